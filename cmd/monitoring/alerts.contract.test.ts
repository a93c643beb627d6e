import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { RuleTester } from '../../testing/servers/prometheus/rule-tester.ts';
import type { Series } from '../../testing/servers/prometheus/rule-tester.ts';
import { alerts } from './alerts.ts';
import { ruleGroups } from './prometheus-rules.ts';
import { recordings } from './recordings.ts';

const hours = 4;
const minutes = hours * 60;
/** Seconds since 1970 when the rules are asked: time begins at 0. */
const now = minutes * 60;
const day = 24 * 3600;
const shop = 'namespace="team",name="shop"';
const small = 'namespace="team",name="small"';

/** Everything is as it should be. */
const healthy: Series = {
  'leader_election_master_status{name="steward.butlerlabs.dev"}': 1,
  [`steward_tenant_condition{${shop},type="Ready"}`]: 1,
  [`steward_tenant_condition{${shop},type="ControlPlaneAvailable"}`]: 1,
  [`steward_tenant_condition{${shop},type="UpgradeAllowed"}`]: 1,
  [`steward_tenant_condition{${shop},type="WithinQuota"}`]: 1,
  [`steward_tenant_replicas{${shop},state="desired"}`]: 2,
  [`steward_tenant_probe_success{${shop},path="service"}`]: 1,
  [`steward_tenant_probe_success{${shop},path="endpoint"}`]: 1,
  [`steward_tenant_probe_duration_seconds{${shop},path="service"}`]: 0.02,
  [`steward_certificate_expiry_timestamp_seconds{${shop},secret="shop-ca"}`]: 3650 * day,
  [`steward_certificate_expiry_timestamp_seconds{${shop},secret="shop-api-server-certificate"}`]: 365 * day,
  [`steward_tenant_use_unknown{${shop}}`]: 0,
  'steward_activator_connections_total{pod="activator-1",instance="a",outcome="Passed"}': '0+2x240',
  'steward_activator_connections_total{pod="activator-1",instance="a",outcome="NotReady"}': 0,
  'steward_activator_connections_total{pod="activator-1",instance="a",outcome="Full"}': 0,
  'steward_activator_connections_total{pod="activator-1",instance="a",outcome="NotTls"}': '0+60x240',
  'steward_activator_wait_seconds_bucket{le="1"}': '0+1x240',
  'steward_activator_wait_seconds_bucket{le="10.0"}': '0+2x240',
  steward_activator_wait_seconds_count: '0+2x240',
  [`steward_backup_condition{${shop},type="Ready"}`]: 1,
  [`steward_backup_condition{${shop},type="Rehearsed"}`]: 1,
  'steward_datastore_condition{name="default",type="Ready"}': 1,
  'steward_datastore_condition{name="default",type="IsolationVerified"}': 1,
  'steward_datastore_isolation_breached{name="default"}': 0,
  'steward_datastore_available_tenants{name="default"}': 5,
  [`steward_pool_control_planes{${small},state="ready"}`]: 2,
  [`steward_pool_control_planes{${small},state="preparing"}`]: 1,
  [`steward_pool_claims_waiting{${small},reason="SecretTaken"}`]: 1,
  'controller_runtime_reconcile_errors_total{controller="tenantcontrolplane"}': 0,
  'controller_runtime_reconcile_panics_total{controller="tenantcontrolplane"}': 0,
  'workqueue_longest_running_processor_seconds{name="tenantcontrolplane",controller="tenantcontrolplane"}': 1,
  'workqueue_depth{name="tenantcontrolplane",controller="tenantcontrolplane",priority="0"}': 3,
  'steward_unhandled_errors_total{kind="rejection"}': 0,
};

/** One of the healthy series, by the beginning of its name and a part of its labels, with another value. */
function instead(beginning: string, value: string | number, part = ''): Series {
  const name = Object.keys(healthy).find((each) => each.startsWith(beginning) && each.includes(part));
  if (name === undefined) throw new Error(`no series begins with ${beginning}`);
  return { [name]: value };
}

let rules: RuleTester;
beforeAll(async () => {
  rules = await RuleTester.of(ruleGroups(alerts), minutes);
}, 120_000);
afterAll(() => rules[Symbol.asyncDispose]());

/** Fails with promtool's words unless exactly these alerts fire at the end of the four hours, once each. */
const fires = (names: readonly string[], series: Series): Promise<void> =>
  rules.expect(
    { ...healthy, ...series },
    'count by (alertname) (ALERTS{alertstate="firing"})',
    Object.fromEntries(names.map((name) => [`{alertname="${name}"}`, 1])),
  );

const faults: readonly (readonly [alert: string, fault: string, series: Series])[] = [
  ['StewardManagerAbsent', 'no manager leads', instead('leader_election', 0)],
  [
    'StewardTenantUnavailable',
    'a control plane does not serve',
    {
      ...instead('steward_tenant_condition', 0, 'ControlPlaneAvailable'),
      ...instead('steward_tenant_condition', 0, '"Ready"'),
    },
  ],
  ['StewardDataStoreUnusable', 'a DataStore does not answer', instead('steward_datastore_condition', 0, '"Ready"')],
  [
    'StewardDataStoreNotIsolated',
    'a DataStore lets a tenant out',
    {
      ...instead('steward_datastore_condition', 0, 'IsolationVerified'),
      ...instead('steward_datastore_isolation_breached', 1),
    },
  ],
  [
    'StewardTenantErrors',
    'every third probe fails',
    instead('steward_tenant_probe_success', '1 1 0 '.repeat(minutes / 3).trim(), 'service'),
  ],
  [
    'StewardTenantEndpointUnreachable',
    'nobody answers at the endpoint',
    instead('steward_tenant_probe_success', 0, 'endpoint'),
  ],
  ['StewardTenantSlow', 'probes take two seconds', instead('steward_tenant_probe_duration', 2)],
  ['StewardTenantNotReady', 'an add-on is missing', instead('steward_tenant_condition', 0, '"Ready"')],
  [
    'StewardDataStoreIsolationUnknown',
    'verifications of a DataStore fail',
    instead('steward_datastore_condition', -1, 'IsolationVerified'),
  ],
  ['StewardTenantQuotaExceeded', 'a tenant is full', instead('steward_tenant_condition', 0, 'WithinQuota')],
  ['StewardTenantQuotaUnknown', 'a tenant is not measured', instead('steward_tenant_condition', -1, 'WithinQuota')],
  ['StewardTenantUseUnknown', 'its metrics cannot be read', instead('steward_tenant_use_unknown', 1)],
  [
    'StewardWakesFail',
    'a control plane does not start',
    instead('steward_activator_connections', `0x${minutes - 10} 1x10`, 'NotReady'),
  ],
  ['StewardWakesSlow', 'images are pulled', instead('steward_activator_wait_seconds_bucket', '0+1x240', '10.0')],
  [
    'StewardActivatorFull',
    'its places are taken',
    instead('steward_activator_connections', `0x${minutes - 20} 1+3x20`, 'Full'),
  ],
  ['StewardActivatorAttacked', 'somebody floods it', instead('steward_activator_connections', '0+3000x240', 'NotTls')],
  ['StewardUpgradeHeld', 'kubelets are too old', instead('steward_tenant_condition', 0, 'UpgradeAllowed')],
  [
    'StewardCertificateExpiring',
    'a certificate is not renewed',
    instead('steward_certificate', now + 3600, 'api-server'),
  ],
  ['StewardAuthorityExpiring', 'a CA is nine years old', instead('steward_certificate', now + 30 * day, 'shop-ca')],
  ['StewardDeletionStuck', 'a deletion waits', { [`steward_tenant_deleted_timestamp_seconds{${shop}}`]: 60 }],
  [
    'StewardMigrationSlow',
    'a migration copies for hours',
    { [`steward_tenant_migration_started_timestamp_seconds{${shop},phase="Copying",target="other"}`]: 60 },
  ],
  ['StewardBackupFails', 'the volume of backups is full', instead('steward_backup_condition', 0, '"Ready"')],
  ['StewardBackupRehearsalFails', 'a chunk is damaged', instead('steward_backup_condition', 0, 'Rehearsed')],
  ['StewardDataStoreFull', 'a DataStore is full', instead('steward_datastore_available', 0)],
  [
    'StewardPoolEmpty',
    'claims wait for a pool that has nothing',
    {
      ...instead('steward_pool_control_planes', 0, '"ready"'),
      [`steward_pool_claims_waiting{${small},reason="NoneReady"}`]: 3,
    },
  ],
  [
    'StewardPoolNotRefilled',
    'a quota is used up',
    { [`steward_pool_refill_blocked{${small},reason="CreationRefused"}`]: 1 },
  ],
  ['StewardReconcilesFail', 'every reconcile fails', instead('controller_runtime_reconcile_errors', `0+60x${minutes}`)],
  ['StewardBehind', 'a reconcile hangs', instead('workqueue_longest', 300)],
  ['StewardDefect', 'a promise is rejected unhandled', instead('steward_unhandled', `0x${minutes - 30} 1x30`)],
];

describe('Alerts', () => {
  test('are rules that Prometheus accepts, with their templates', async () => {
    expect(await rules.check()).toContain(`SUCCESS: ${alerts.length + recordings.length} rules found`);
  });

  test('are none while everything is as it should be', () => fires([], {}));

  test.each(faults)('%s is the only one when %s', (alert, _, series) => fires([alert], series));

  test('are StewardDefect for an exception that ended the process: the next one counts it', () =>
    fires(['StewardDefect'], {
      'steward_unhandled_errors_total{kind="exception"}': `0x${minutes - 30} _ _ 1x28`,
    }));

  test('are all tested, one by one', () => {
    expect(faults.map(([name]) => name)).toEqual(alerts.map(({ name }) => name));
  });

  test('are none for one probe that failed, and none twice for a control plane that does not serve', async () => {
    const failing = `${'1 '.repeat(minutes - 20)}0 ${'1 '.repeat(20)}`.trim();
    await fires([], instead('steward_tenant_probe_success', failing, 'service'));
    await fires(['StewardTenantUnavailable'], {
      ...instead('steward_tenant_probe_success', 0, 'service'),
      ...instead('steward_tenant_probe_success', 0, 'endpoint'),
      ...instead('steward_tenant_condition', 0, 'ControlPlaneAvailable'),
      ...instead('steward_tenant_condition', 0, '"Ready"'),
    });
  });

  test('are none twice for a pool that has nothing and cannot be refilled', () =>
    fires(['StewardPoolEmpty'], {
      ...instead('steward_pool_control_planes', 0, '"ready"'),
      [`steward_pool_claims_waiting{${small},reason="NoneReady"}`]: 3,
      [`steward_pool_refill_blocked{${small},reason="NotBecomingReady"}`]: 1,
    }));

  test('are none for a pool that nobody waits for, and none for a claim that will get one in a moment', async () => {
    await fires([], instead('steward_pool_control_planes', 0, '"ready"'));
    const waits = `${'0 '.repeat(minutes - 3)}${'1 '.repeat(3)}`.trim();
    await fires([], {
      ...instead('steward_pool_control_planes', 0, '"ready"'),
      [`steward_pool_claims_waiting{${small},reason="NoneReady"}`]: waits,
    });
  });

  test('are none for a control plane that sleeps', () =>
    fires([], {
      ...instead('steward_tenant_replicas', 0),
      ...instead('steward_tenant_condition', 0, 'ControlPlaneAvailable'),
      ...instead('steward_tenant_condition', 0, '"Ready"'),
    }));

  test('are none for one whose deletion began five minutes ago', () =>
    fires([], {
      [`steward_tenant_deleted_timestamp_seconds{${shop}}`]: now - 300,
      ...instead('steward_tenant_condition', 0, 'ControlPlaneAvailable'),
      ...instead('steward_tenant_condition', 0, '"Ready"'),
    }));
});

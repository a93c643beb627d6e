import { expect, test } from '@jest/globals';

import { tenantControlPlaneConditions } from '../../api/steward/v1alpha1/condition-rows.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ProbeResult } from '../../tenants/probe.ts';
import { probePaths } from '../../tenants/prober.ts';
import type { ProbePath } from '../../tenants/prober.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { tenantMetrics } from './tenant-metrics.ts';
import type { TenantFacts } from './tenant-metrics.ts';

const unknown: TenantFacts = {
  ...{ defaultDataStore: '', probes: () => new Map() },
  ...{ dataSize: () => undefined, dataWrites: () => undefined, now: () => new Date(0) },
};

/** Every series of a tenant, as `metric{labels} value`. */
function seriesOf(tcp: TenantControlPlane, facts: Partial<TenantFacts> = {}): readonly string[] {
  return tenantMetrics({ ...unknown, ...facts }).flatMap(({ name, labels: declared, samples }) =>
    samples(tcp).map(({ value, labels = {} }) => {
      expect(Object.keys(labels).toSorted()).toEqual([...declared].toSorted());
      const text = Object.entries(labels).map(([label, of]) => `${label}="${of}"`);
      return `${name.replace('steward_tenant_', '')}{${text.join(',')}} ${value}`;
    }),
  );
}

const time = '2030-01-01T00:00:00Z';
const seconds = Date.parse(time) / 1000;
const condition = (type: string, status: 'True' | 'False' | 'Unknown' = 'True') => {
  return { type, status, reason: 'Because', message: '', lastTransitionTime: time };
};
const deployment = { selector: '', name: 'tenant', namespace: 'default', replicas: 3, readyReplicas: 1 };

test('a tenant that runs has its version, DataStore, conditions and pods', () => {
  const tcp = tenantControlPlaneWith({
    status: {
      conditions: [condition('Ready', 'False'), condition('ControlPlaneAvailable'), condition('Rotating', 'Unknown')],
      kubernetesResources: { version: { version: 'v1.36.3', status: 'Ready' }, deployment },
    },
  });
  expect(seriesOf(tcp)).toEqual([
    'info{version="v1.36.3",datastore="default"} 1',
    'condition{type="Ready"} 0',
    'condition{type="ControlPlaneAvailable"} 1',
    'condition{type="Rotating"} -1',
    'replicas{state="desired"} 2',
    'replicas{state="ready"} 1',
    'sleeping{} 0',
  ]);
});

test('a new tenant has no pods yet, and the DataStore of those that name none', () => {
  const series = seriesOf(tenantControlPlaneWith({ spec: { dataStore: '' } }), { defaultDataStore: 'usual' });
  expect(series).toEqual([
    'info{version="",datastore="usual"} 1',
    'replicas{state="desired"} 2',
    'replicas{state="ready"} 0',
    'sleeping{} 0',
  ]);
});

test('a migration has series while it is under way, and none afterwards', () => {
  const migrating = (phase: 'Copying' | 'Succeeded') =>
    tenantControlPlaneWith({
      status: {
        storage: {
          migration: {
            ...{ phase, startedAt: time, remaining: 7 },
            source: { dataStoreName: 'default' },
            target: { dataStoreName: 'other' },
          },
        },
      },
    });
  expect(seriesOf(migrating('Copying'))).toEqual(
    expect.arrayContaining([
      `migration_started_timestamp_seconds{phase="Copying",target="other"} ${seconds}`,
      'migration_remaining_keys{} 7',
    ]),
  );
  expect(seriesOf(migrating('Succeeded')).filter((line) => line.startsWith('migration'))).toEqual([]);
});

test('what the last probe found has series for each way to the API server', () => {
  const tcp = tenantControlPlaneWith({ metadata: { uid: 'here' } });
  const found = new Map<ProbePath, ProbeResult>([
    ['service', { isUp: true, seconds: 0.02 }],
    ['endpoint', { isUp: false, seconds: 5 }],
  ]);
  const probes: TenantFacts['probes'] = (uid) => (uid === 'here' ? found : new Map());
  expect(seriesOf(tcp, { probes }).filter((line) => line.startsWith('probe'))).toEqual([
    'probe_success{path="service"} 1',
    'probe_success{path="endpoint"} 0',
    'probe_duration_seconds{path="service"} 0.02',
    'probe_duration_seconds{path="endpoint"} 5',
  ]);
});

test.each([
  ['awake', {}, ['replicas{state="desired"} 2', 'sleeping{} 0']],
  ['asleep with 0 replicas', { deployment: { replicas: 0 } }, ['replicas{state="desired"} 0', 'sleeping{} 1']],
  [
    'asleep by its schedules',
    { status: { sleep: { state: 'Asleep', since: time, reason: 'Schedule' } } },
    ['replicas{state="desired"} 0', 'sleeping{} 1'],
  ],
] as const)('a tenant that is %s wants pods or sleeps, in its series', (_, changes, expected) => {
  const lines = seriesOf(tenantControlPlaneWith(changes));
  expect(lines.filter((line) => /^(sleeping|replicas\{state="desired")/.test(line))).toEqual(expected);
});

test.each([
  ['is read', { use: { state: 'InUse', since: time } }, ['use_unknown{} 0']],
  ['cannot be read', { use: { state: 'Unknown', since: time } }, ['use_unknown{} 1']],
  [
    'could not be read before it fell asleep',
    { use: { state: 'Unknown', since: time }, sleep: { state: 'Asleep', since: time, reason: 'Schedule' } },
    ['use_unknown{} 0'],
  ],
  ['has not been read yet', {}, []],
] as const)('a tenant whose use %s has such a series, if its sleep depends on that', (_, status, expected) => {
  const of = (spec: object): readonly string[] =>
    seriesOf(tenantControlPlaneWith({ spec, status })).filter((line) => line.startsWith('use_'));
  expect(of({ sleep: { afterIdle: '30m' } })).toEqual(expected);
  expect(of({})).toEqual([]);
});

test('how long a tenant has slept, what woke it up and its last use are series once sleep had an effect', () => {
  const ended = { seconds: 3600, bySchedule: 2, byPerson: 1 };
  const of = (status: TenantControlPlane['status']) =>
    seriesOf(tenantControlPlaneWith({ status }), { now: () => new Date(seconds * 1000 + 60_999) }).filter((line) =>
      /^(asleep|wakes|idle)/.test(line),
    );
  expect(
    of({ sleep: { state: 'Asleep', since: time, reason: 'Use', ended }, use: { state: 'Idle', since: time } }),
  ).toEqual([
    'asleep_seconds_total{} 3660',
    'wakes_total{cause="schedule"} 2',
    'wakes_total{cause="person"} 1',
    `idle_since_timestamp_seconds{} ${seconds}`,
  ]);
  expect(
    of({ sleep: { state: 'Awake', since: time, reason: 'Use', ended }, use: { state: 'InUse', since: time } }),
  ).toEqual(['asleep_seconds_total{} 3600', 'wakes_total{cause="schedule"} 2', 'wakes_total{cause="person"} 1']);
  const byRequest = of({ sleep: { state: 'Awake', since: time, reason: 'Use', ended: { ...ended, byRequest: 3 } } });
  expect(byRequest).toContain('wakes_total{cause="request"} 3');
  const byUpgrade = of({ sleep: { state: 'Awake', since: time, reason: 'Use', ended: { ...ended, byUpgrade: 4 } } });
  expect(byUpgrade).toContain('wakes_total{cause="upgrade"} 4');
  expect(of({})).toEqual([]);
});

test('what a tenant stores is a series once it was measured', () => {
  const tcp = tenantControlPlaneWith({ metadata: { uid: 'here' } });
  const size = { bytes: 4096, content: { keys: 3, bytes: 1024 } };
  const dataSize: TenantFacts['dataSize'] = (uid) => (uid === 'here' ? size : undefined);
  const isOfData = (line: string): boolean => line.startsWith('data_');
  expect(seriesOf(tcp, { dataSize }).filter(isOfData)).toEqual([
    'data_size_bytes{} 4096',
    'data_keys{} 3',
    'data_content_bytes{} 1024',
  ]);
  expect(seriesOf(tcp).filter(isOfData)).toEqual([]);
});

test('how often a tenant was written to is a series where it is known', () => {
  const tcp = tenantControlPlaneWith({ metadata: { uid: 'here' } });
  const dataWrites: TenantFacts['dataWrites'] = (uid) => (uid === 'here' ? 7 : undefined);
  const ofData = (facts: Partial<TenantFacts>) => seriesOf(tcp, facts).filter((line) => line.startsWith('data_'));
  expect(ofData({ dataWrites })).toEqual(['data_writes_total{} 7']);
  expect(ofData({})).toEqual([]);
});

test.each([
  ['while it is migrated', {}, true],
  ['while it is deleted, when it is no longer probed', { deletionTimestamp: time }, false],
])('a tenant has at most 24 series, whatever its status says: %s', (_, metadata, isProbed) => {
  const tcp = tenantControlPlaneWith({
    metadata,
    status: {
      conditions: Object.keys(tenantControlPlaneConditions).map((type) => condition(type)),
      sleep: { state: 'Awake', since: time, reason: 'Use' },
      use: { state: 'Idle', since: time },
      kubernetesResources: { version: { version: 'v1.36.3', status: 'Ready' }, deployment },
      storage: {
        migration: {
          ...{ phase: 'Copying', startedAt: time, remaining: 7 },
          source: { dataStoreName: 'default' },
          target: { dataStoreName: 'other' },
        },
      },
    },
  });
  const found = new Map(probePaths.map((path) => [path, { isUp: true, seconds: 1 }]));
  const probes: TenantFacts['probes'] = () => (isProbed ? found : new Map());
  const series = seriesOf(tcp, {
    probes,
    dataSize: () => ({ bytes: 1, content: { keys: 1, bytes: 1 } }),
    dataWrites: () => 1,
  });
  expect(series.length).toBeLessThanOrEqual(24);
  expect(series.length).toBeGreaterThan(10);
});

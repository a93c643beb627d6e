import { expect, test } from '@jest/globals';
import type { ControlPlaneClaim } from '../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import type { ControlPlanePool, ControlPlanePoolStatus } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { Metrics } from '../../runtime/observe/metrics.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { measuredPools, poolMetrics } from './pool-metrics.ts';

const apiVersion = 'steward.butlerlabs.dev/v1alpha1';
const about = (name: string, more: object = {}) => ({
  ...{ name, namespace: 'team', uid: name, resourceVersion: '1', generation: 1 },
  ...more,
});
const stated = (type: string, status: 'True' | 'False', reason: string) => ({
  ...{ type, status, reason, message: '', lastTransitionTime: '2030-01-01T00:00:00Z' },
});

const pool = (name: string, status: ControlPlanePoolStatus = {}, more: object = {}): ControlPlanePool => ({
  ...{ apiVersion, kind: 'ControlPlanePool', metadata: about(name, more) },
  spec: { template: { spec: tenantControlPlaneWith().spec }, minReady: 1 },
  status,
});

const claim = (name: string, of: string, bound?: ReturnType<typeof stated>, more: object = {}): ControlPlaneClaim => ({
  ...{
    apiVersion,
    kind: 'ControlPlaneClaim',
    metadata: about(name, more),
    spec: { pool: of, deletionPolicy: 'Delete' },
  },
  ...(bound && { status: { conditions: [bound] } }),
});

/** The series of these objects, as they are scraped. */
async function series(
  pools: readonly ControlPlanePool[],
  claims: readonly ControlPlaneClaim[],
): Promise<readonly string[]> {
  const metrics = new Metrics({ process: false });
  metrics.watchObjects(poolMetrics, {
    list: () => measuredPools(pools, claims),
    labels: ['namespace', 'name'],
    nameOf: ({ namespace, name }) => ({ namespace, name }),
  });
  const lines = (await metrics.registry.metrics()).split('\n');
  return lines.filter((line) => line.startsWith('steward_')).map((line) => line.replace('steward_pool_', ''));
}

const counts = { wanted: 3, ready: 1, preparing: 2, claimed: 4, created: 9 };
const gone = { deletionTimestamp: '2030-01-01T00:00:00Z' };

test('a pool has the numbers of its status, and none that nobody knows yet', async () => {
  expect(await series([pool('small', counts), pool('new')], [])).toEqual([
    'wanted{namespace="team",name="small"} 3',
    'control_planes{namespace="team",name="small",state="ready"} 1',
    'control_planes{namespace="team",name="small",state="preparing"} 2',
    'control_planes{namespace="team",name="small",state="claimed"} 4',
    'created_total{namespace="team",name="small"} 9',
  ]);
});

test.each([
  ['CreationRefused', 'False', ['refill_blocked{namespace="team",name="small",reason="CreationRefused"} 1']],
  ['NotBecomingReady', 'False', ['refill_blocked{namespace="team",name="small",reason="NotBecomingReady"} 1']],
  ['InvalidSpec', 'False', ['refill_blocked{namespace="team",name="small",reason="InvalidSpec"} 1']],
  ['Preparing', 'False', []],
  ['Ready', 'True', []],
] as const)('with the reason %s it is reported as it should be', async (reason, status, expected) => {
  expect(await series([pool('small', { conditions: [stated('Ready', status, reason)] })], [])).toEqual(expected);
});

test('claims that wait are counted by pool and reason, but not those that have what they get', async () => {
  const none = stated('Bound', 'False', 'NoneReady');
  const claims = [
    claim('a', 'small', none),
    claim('b', 'small', none),
    claim('c', 'small', stated('Bound', 'False', 'SecretTaken')),
    claim('d', 'small'),
    claim('e', 'small', stated('Bound', 'True', 'Bound')),
    claim('f', 'small', stated('Bound', 'False', 'ControlPlaneGone')),
    claim('g', 'small', none, gone),
  ];
  expect(await series([pool('small'), pool('large')], claims)).toEqual([
    'claims_waiting{namespace="team",name="small",reason="NoneReady"} 2',
    'claims_waiting{namespace="team",name="small",reason="SecretTaken"} 1',
    'claims_waiting{namespace="team",name="small",reason="New"} 1',
  ]);
});

test('claims that name pools which do not exist are one series, however many they name', async () => {
  const none = stated('Bound', 'False', 'PoolNotFound');
  const claims = Array.from({ length: 50 }, (_, at) => claim(`c${at}`, `missing-${at}`, none));
  const elsewhere = claim('z', 'small', none, { namespace: 'other' });
  expect(
    await series([pool('small'), pool('leaving', counts, gone)], [...claims, claim('y', 'leaving', none), elsewhere]),
  ).toEqual([
    'claims_waiting{namespace="team",name="",reason="PoolNotFound"} 51',
    'claims_waiting{namespace="other",name="",reason="PoolNotFound"} 1',
  ]);
});

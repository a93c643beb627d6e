import { describe, expect, test } from '@jest/globals';
import { asStored } from '../../../api/as-stored.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Lease, Pod } from '../../../api/core/kinds.ts';
import type { Condition } from '../../../api/meta.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { containerStatus, troubledPod } from '../../../testing/builders/troubled-pod.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { findCause } from './find-cause.ts';
import type { Cause } from './explanation.ts';
import type { Situation } from './situation.ts';
import { stepsOf } from './steps.ts';

const now = new Date('2030-01-01T01:00:00Z');
const since = '2030-01-01T00:00:00Z';

const condition = (type: string, status: Condition['status'], reason: string, message = ''): Condition => ({
  ...{ type, status, reason, message },
  lastTransitionTime: since,
});

const healthyTypes = [
  'StoreReady',
  'EndpointReady',
  'CertificatesReady',
  'KubeconfigsReady',
  'UpgradeAllowed',
  'ControlPlaneAvailable',
  'PodsProtected',
  'TenantConfigured',
  'AddonsReady',
];

/** A tenant that is well but for these conditions. */
function tenantWith(...conditions: readonly Condition[]): TenantControlPlane {
  const healthy = healthyTypes.map((type) => condition(type, 'True', 'Succeeded'));
  const rest = [...healthy, condition('Ready', 'True', 'Ready')].filter(
    ({ type }) => !conditions.some((one) => one.type === type),
  );
  const made = tenantControlPlaneWith({ status: { observedGeneration: 1, conditions: [...rest, ...conditions] } });
  return { ...made, metadata: { ...made.metadata, creationTimestamp: since } };
}

function ownerWith(...conditions: readonly Condition[]): StewardControlPlane {
  return asStored({
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: { namespace: 'default', name: 'tenant', creationTimestamp: since },
    spec: { version: 'v1.36.3' },
    status: { conditions },
  } as never);
}

/** As it comes from the API server, whose times are text. */
const leaseOf = (holderIdentity: string): Lease =>
  JSON.parse(
    JSON.stringify({
      metadata: { namespace: 'steward-system', name: 'steward.butlerlabs.dev' },
      spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: now },
    }),
  ) as Lease;

function causeOf(changes: Partial<Situation>): Cause | undefined {
  const situation: Situation = {
    ...{ now, namespace: 'default', name: 'tenant', managerNamespace: 'steward-system' },
    ...{ replicaSets: [], pods: [], events: [], migrationPods: [], logs: {}, unread: [] },
    lease: leaseOf('one'),
    tenantControlPlane: tenantWith(),
    ...changes,
  };
  return findCause(situation, stepsOf(situation.tenantControlPlane, false));
}

const podWith = (status: object): Pod => asStored<Pod>(troubledPod({ phase: 'Running', ...status }));
const notReady = tenantWith(condition('ControlPlaneAvailable', 'False', 'PodsNotReady', 'no pod is ready'));

describe('The cause', () => {
  test('is none for a tenant that is well', () => {
    expect(causeOf({})).toBeUndefined();
  });

  test('is a manager that never ran, before anything else', () => {
    const tenantControlPlane = tenantWith(condition('StoreReady', 'False', 'DataStoreNotFound'));
    expect(causeOf({ lease: undefined, tenantControlPlane })?.reason).toBe('ManagerNotRunning');
    expect(causeOf({ lease: 'unread', tenantControlPlane })?.reason).toBe('DataStoreNotFound');
  });

  test('is a leader that gave up its Lease', () => {
    expect(causeOf({ lease: leaseOf('') })?.what).toContain('gave up its Lease');
  });

  test('is the first failed step, also behind one that is only waited for', () => {
    const tenantControlPlane = tenantWith(
      condition('CertificatesReady', 'False', 'Rotating'),
      condition('AddonsReady', 'False', 'RouteNotAccepted', 'no Gateway has accepted it'),
    );
    expect(causeOf({ tenantControlPlane })).toMatchObject({ reason: 'RouteNotAccepted', passes: false, since });
  });

  test('names the reason of another API server, with a remedy', () => {
    const forbidden = condition('AddonsReady', 'False', 'Forbidden', 'daemonsets is forbidden');
    const cause = causeOf({ tenantControlPlane: tenantWith(forbidden) });
    expect(cause).toMatchObject({ reason: 'Forbidden', what: 'daemonsets is forbidden' });
    expect(cause?.remedy).toContain('Do what the message says');
  });

  test('is a manager that has not seen the change, or the object', () => {
    const tcp = tenantWith();
    const changed = { ...tcp, metadata: { ...tcp.metadata, generation: 2 } };
    expect(causeOf({ tenantControlPlane: changed })).toMatchObject({ reason: 'NotObserved', passes: true });
    const fresh = { ...tcp, status: {} };
    expect(causeOf({ tenantControlPlane: fresh })).toMatchObject({ reason: 'NotReported', since });
  });

  test('is what the StewardControlPlane says, if its TenantControlPlane is well or missing', () => {
    const mismatch = condition('InfrastructureClusterPatched', 'False', 'EndpointMismatch', 'it has another endpoint');
    expect(causeOf({ stewardControlPlane: ownerWith(mismatch) })).toMatchObject({
      reason: 'EndpointMismatch',
      where: 'condition InfrastructureClusterPatched of the StewardControlPlane',
    });
    const alone = { stewardControlPlane: ownerWith(condition('TenantControlPlaneCreated', 'False', 'Refused', 'no')) };
    expect(causeOf({ ...alone, tenantControlPlane: undefined })?.reason).toBe('Refused');
    expect(causeOf({ stewardControlPlane: ownerWith(), tenantControlPlane: undefined })).toMatchObject({
      reason: 'NoTenantControlPlane',
      passes: true,
    });
  });

  test('of a deletion are the workers that are still there', () => {
    const deleting = condition('Deleting', 'True', 'WaitingForWorkersDeletion', 'Machine a');
    expect(causeOf({ stewardControlPlane: ownerWith(deleting) })).toMatchObject({ what: 'Machine a', passes: true });
  });

  test('is the datastore when an upgrade, or a pod, only follows it', () => {
    const dataStore = asStored<DataStore>({
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'DataStore',
      metadata: { name: 'default' },
      spec: { driver: 'etcd', endpoints: ['etcd:2379'] },
      status: { conditions: [condition('Reachable', 'False', 'Unreachable', 'no answer')] },
    } as never);
    const held = condition('UpgradeAllowed', 'False', 'StoreUnhealthy', 'the DataStore cannot be used');
    const where = 'condition Reachable of the DataStore default';
    expect(causeOf({ dataStore, tenantControlPlane: tenantWith(held) })?.where).toBe(where);
    const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
    const pods = [
      podWith({ containerStatuses: [containerStatus('kube-apiserver', { restartCount: 4, state: waiting })] }),
    ];
    expect(causeOf({ dataStore, pods, tenantControlPlane: notReady })?.where).toBe(where);
  });

  test.each([
    [
      'OutOfMemory',
      { restartCount: 2, lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
      'more memory',
    ],
    [
      'ContainerNotCreated',
      { state: { waiting: { reason: 'CreateContainerConfigError', message: 'secret "x"' } } },
      'secret "x"',
    ],
    ['CrashLoop', { restartCount: 2, lastState: { terminated: { exitCode: 2 } } }, 'exit code 2, restarted 2 times'],
    ['NotReady', { state: { running: { startedAt: since } } }, 'runs, but is not ready'],
  ] as const)('is %s of a container that says so', (reason, status, text) => {
    const pods = [podWith({ startTime: since, containerStatuses: [containerStatus('kube-apiserver', status)] })];
    const cause = causeOf({ pods, tenantControlPlane: notReady });
    expect(cause).toMatchObject({ reason, passes: false });
    expect(cause?.what).toContain(text);
  });

  test('quotes of a log only the line that says why', () => {
    const status = { restartCount: 2, lastState: { terminated: { exitCode: 1 } } };
    const pods = [podWith({ containerStatuses: [containerStatus('kube-apiserver', status)] })];
    const log = 'I0101 token=abc\nF0101 12:00:00 storage: dial tcp: refused\nI0101 bye\n';
    const logs = { 'tenant-6d4cf56db6-x7k2p/kube-apiserver': log };
    const cause = causeOf({ pods, logs, tenantControlPlane: notReady });
    expect(cause?.what).toContain('storage: dial tcp: refused');
    expect(cause?.what).not.toContain('token');
  });

  test('keeps the end of a long message, which says why', () => {
    const image = 'registry.example.com/kube-apiserver:v1.36.9';
    const message = `Back-off pulling image: ErrImagePull: ${'rpc error: '.repeat(80)}dial tcp: lookup registry.example.com: no such host`;
    const waiting = { reason: 'ImagePullBackOff', message };
    const pods = [podWith({ containerStatuses: [containerStatus('kube-apiserver', { image, state: { waiting } })] })];
    const { what = '' } = causeOf({ pods, tenantControlPlane: notReady }) ?? {};
    expect(what).toMatch(/cannot get its image .*Back-off pulling image/);
    expect(what).toMatch(/ … .*dial tcp: lookup registry\.example\.com: no such host$/);
    expect(what.length).toBeLessThan(800);
  });

  test('after a rollout that failed leads to the Events of pods that are gone', () => {
    const failed = condition('UpgradeAllowed', 'False', 'RolloutFailed', 'was rolled back to the previous pods');
    const { commands = [] } = causeOf({ tenantControlPlane: tenantWith(failed) }) ?? {};
    expect(commands.join()).toContain(' events --types=Warning');
    expect(commands.join()).not.toContain('describe pods');
  });

  test('is what a person should do about a control plane that serves', () => {
    const prepared = condition('Rotating', 'True', 'Prepared', 'old and new CA are trusted');
    expect(causeOf({ tenantControlPlane: tenantWith(prepared) })).toMatchObject({ reason: 'Prepared', passes: false });
    const requests = condition('CertificateRequestsLeft', 'False', 'AllHandled');
    expect(causeOf({ tenantControlPlane: tenantWith(requests) })).toBeUndefined();
  });
});

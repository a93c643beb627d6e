import { afterEach, describe, expect, test } from '@jest/globals';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import { wrapCluster } from '../../../runtime/client/wrap-cluster.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { hostingNamespace, kubeconfigFor, kubeconfigSecret } from '../../../testing/builders/external-objects.ts';
import { hostingCluster } from '../../../testing/worlds/external-world.ts';
import { FakeClock } from '../../../testing/fake/fake-clock.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { ExternalClusters } from './external-clusters.ts';

const user = (name: string) => ({ uid: `uid-of-${name}`, key: { namespace: 'fleet', name } });
const secret = { namespace: 'fleet', name: 'hosting' };
const connection = (token: string): Connection => ({ server: 'https://there:6443', token });
const tenant = (name: string) => ({ namespace: hostingNamespace, name });

describe('Clients of other clusters', () => {
  const here = new FakeCluster();
  const opened: Connection[] = [];
  const closed: Connection[] = [];
  let told: (key: Key) => void = () => undefined;
  let clusters: ExternalClusters;

  const open = async (): Promise<FakeCluster> => {
    const there = await hostingCluster();
    opened.length = closed.length = 0;
    clusters = new ExternalClusters({
      memory: new ObjectMemory(),
      cluster: here,
      clock: new FakeClock(),
      log: silent,
      random: () => 0,
      open: (to) => {
        opened.push(to);
        const close = (): Promise<void> => Promise.resolve(void closed.push(to));
        return { ...wrapCluster(there, ({ send }) => send()), close };
      },
      enqueue: (key) => {
        told(key);
      },
    });
    return there;
  };
  const nextEnqueue = () =>
    new Promise<Key>((resolve) => {
      told = resolve;
    });
  afterEach(() => clusters.close());

  test('are shared by all users of the same credentials, and closed with the last of them', async () => {
    await open();
    for (const name of ['blue', 'green']) {
      clusters.followSecret(user(name), secret);
      clusters.borrow(user(name), connection('a'));
      clusters.followTenant(user(name), tenant(`kcp-${name}`));
    }
    expect(opened).toHaveLength(1);
    expect(clusters.size).toEqual({ clients: 1, watches: 2 });
    clusters.release(user('blue').uid);
    expect(clusters.size).toEqual({ clients: 1, watches: 2 });
    clusters.release(user('green').uid);
    clusters.release(user('green').uid);
    expect(clusters.size).toEqual({ clients: 0, watches: 0 });
    expect(closed).toHaveLength(1);
  });

  test('are separate for other credentials, and each is closed when its last user has changed to the other', async () => {
    await open();
    for (const name of ['blue', 'green']) clusters.borrow(user(name), connection('a'));
    clusters.borrow(user('blue'), connection('b'));
    expect([opened.length, closed.length]).toEqual([2, 0]);
    clusters.borrow(user('green'), connection('b'));
    expect([opened.length, closed.length]).toEqual([2, 1]);
    expect(clusters.size.clients).toBe(1);
  });

  test('enqueue only the StewardControlPlane whose control plane has changed there', async () => {
    const there = await open();
    for (const name of ['blue', 'green']) {
      clusters.borrow(user(name), connection('a'));
      clusters.followTenant(user(name), tenant(`kcp-${name}`));
    }
    const enqueue = nextEnqueue();
    await there.seed(tenantControlPlane, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'TenantControlPlane',
      metadata: { ...tenant('kcp-green'), labels: { 'cluster.x-k8s.io/cluster-name': 'green' } },
      spec: { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' } },
    });
    expect(await enqueue).toEqual(user('green').key);
  });

  test('enqueue the users of a Secret that has changed', async () => {
    await open();
    clusters.followSecret(user('blue'), secret);
    const enqueue = nextEnqueue();
    await here.seed(
      kinds.Secret,
      kubeconfigSecret(kubeconfigFor('https://there:6443', { credentials: { token: 'x' } })),
    );
    expect(await enqueue).toEqual(user('blue').key);
  });

  test('read only the requested content from other clusters', async () => {
    const there = await open();
    const begun = new Promise<void>((resolve) => {
      there.before(({ verb }) => {
        if (verb === 'watch') resolve();
      });
    });
    clusters.borrow(user('blue'), connection('a'));
    clusters.followTenant(user('blue'), tenant('kcp-blue'));
    await begun;
    expect(there.calls.map(({ verb, kind, namespace }) => [verb, kind?.kind, namespace])).toEqual([
      ['watch', 'TenantControlPlane', hostingNamespace],
    ]);
  });
});

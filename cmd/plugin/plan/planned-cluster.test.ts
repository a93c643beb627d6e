import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment, Secret, Service } from '../../../api/core/kinds.ts';
import { gateway } from '../../../api/gateway-api/kinds.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { PlannedCluster } from './planned-cluster.ts';

const now = new Date('2030-01-01T00:00:00Z');
const own = { namespace: 'default', name: 'tenant' };
const fieldManager = 'steward';

function planned(real = new FakeCluster({ now: () => now.getTime() })): PlannedCluster {
  return new PlannedCluster({ reader: clusterReader(real.admin), now: () => now });
}

const deployment = (replicas: number): never =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...own, labels: { app: 'x' } },
    spec: { replicas, selector: { matchLabels: { app: 'x' } } },
  }) as never;

describe('A planned cluster', () => {
  test('reads what the real one has, and writes nothing there', async () => {
    const real = new FakeCluster({ now: () => now.getTime() });
    await real.seed(kinds.Deployment, deployment(1));
    const plan = planned(real);
    const changed = await plan.apply<Deployment>(kinds.Deployment, deployment(3), { fieldManager });
    expect(changed.spec?.replicas).toBe(3);
    expect((await plan.get(kinds.Deployment, own))?.spec?.replicas).toBe(3);
    expect((await real.admin.get(kinds.Deployment, own))?.spec?.replicas).toBe(1);
  });

  test('lists what was written beside what was read, by label and namespace', async () => {
    const real = new FakeCluster({ now: () => now.getTime() });
    await real.seed(kinds.Deployment, deployment(1));
    const plan = planned(real);
    await plan.create(kinds.Deployment, {
      ...(deployment(1) as object),
      metadata: { namespace: 'other', name: 'b' },
    } as never);
    expect((await plan.list(kinds.Deployment)).items.map(({ metadata }) => metadata.name).sort()).toEqual([
      'b',
      'tenant',
    ]);
    expect((await plan.list(kinds.Deployment, { labelSelector: 'app=x' })).items).toHaveLength(1);
    expect((await plan.list(kinds.Deployment, { namespace: 'other' })).items).toHaveLength(1);
    await plan.delete(kinds.Deployment, own);
    expect((await plan.list(kinds.Deployment, { labelSelector: 'app=x' })).items).toEqual([]);
  });

  test('has the pods of a Deployment ready at once', async () => {
    const plan = planned();
    const { status, metadata } = await plan.apply<Deployment>(kinds.Deployment, deployment(2), { fieldManager });
    expect(status).toMatchObject({ readyReplicas: 2, updatedReplicas: 2, observedGeneration: metadata.generation });
  });

  test('chooses addresses and node ports in place of the API server, each port once', async () => {
    const plan = planned();
    const service = (name: string): never =>
      ({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { ...own, name },
        spec: { type: 'NodePort', ports: [{ port: 6443 }, { port: 8132 }] },
      }) as never;
    const made = await Promise.all(
      ['a', 'b'].map((name) => plan.create<Service>(kinds.Service, service(name), { fieldManager })),
    );
    const ports = made.flatMap(({ spec }) => spec?.ports?.map(({ nodePort }) => nodePort) ?? []);
    expect(new Set(ports).size).toBe(4);
    expect(made[0]?.spec?.clusterIP).toBe('192.0.2.1');
  });

  test('stores texts of Secrets as the API server does', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: own, stringData: { a: 'b' } };
    const made = await planned().create<Secret>(kinds.Secret, secret);
    expect(made).toMatchObject({ type: 'Opaque', data: { a: 'Yg==' } });
    expect('stringData' in made).toBe(false);
  });

  test('refuses a second object of a name, and a patch of none', async () => {
    const plan = planned();
    await plan.create(kinds.Deployment, deployment(1));
    await expect(plan.create(kinds.Deployment, deployment(1))).rejects.toMatchObject({ code: 409 });
    const patch = { type: 'merge', body: {} } as const;
    await expect(plan.patch(kinds.Deployment, { ...own, name: 'b' }, patch)).rejects.toBeInstanceOf(ApiError);
  });

  test('counts only writes that change something, and no dry run', async () => {
    const plan = planned();
    await plan.apply(kinds.Deployment, deployment(1), { fieldManager });
    const before = plan.writes;
    await plan.apply(kinds.Deployment, deployment(1), { fieldManager });
    await plan.apply(kinds.Deployment, deployment(2), { fieldManager, dryRun: true });
    expect(plan.writes).toBe(before);
    expect((await plan.get(kinds.Deployment, own))?.spec?.replicas).toBe(1);
  });

  test('does not know a kind that the real one does not know', async () => {
    const real = new FakeCluster({ absent: [gateway] });
    await expect(planned(real).list(gateway, { namespace: 'default' })).rejects.toMatchObject({ code: 404 });
  });
});

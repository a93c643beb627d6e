import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { newestMinor } from '../../../kubeadm/versions.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import type { ObjectReader } from '../explain/object-reader.ts';
import { mergePatched } from './merge-patched.ts';
import { planChange } from './plan-change.ts';
import type { Plan } from './plan-result.ts';
import { renderPlan } from './render-plan.ts';

async function running(): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create();
  await world.settle();
  return world;
}

async function planOf(
  world: TenantWorld,
  changed: TenantControlPlane,
  reader: Pick<ObjectReader, 'read' | 'list'> = clusterReader(world.cluster.admin),
): Promise<Plan> {
  const { driver } = world.store;
  const settings = { managerNamespace: 'steward-system', drivers: [driver], defaultDataStore: '', newestMinor };
  return planChange({ reader, settings, now: world.clock.now(), changed });
}

async function planned(world: TenantWorld, body: object): Promise<Plan> {
  return planOf(world, mergePatched(await world.read(), body) as TenantControlPlane);
}

describe('A plan as text', () => {
  test('shows the change, the version, why pods restart, and each object with its fields', async () => {
    const world = await running();
    const text = renderPlan(
      await planned(world, {
        spec: { kubernetes: { version: 'v1.36.4' }, controlPlane: { deployment: { replicas: 3 } } },
      }),
    );
    expect(text).toContain('Plan for TenantControlPlane default/tenant\n');
    expect(text).toContain('spec.kubernetes.version: v1.36.3 → v1.36.4');
    expect(text).toContain('Version: v1.36.3 → v1.36.4; not checked yet: the kubelets of the nodes');
    expect(text).toContain('Pods: all 2 are replaced, and become 3, because of\n');
    expect(text).toMatch(/containers\[kube-apiserver\]\.image: \S+:v1\.36\.3 becomes \S+:v1\.36\.4/);
    expect(text).toContain('  ~ Deployment default/tenant\n    spec.replicas: 2 → 3\n');
    expect(text).toContain('Objects in the tenant\n');
  });

  test('never shows the content of a Secret, though it changes', async () => {
    const world = await running();
    const plan = await planned(world, { spec: { networkProfile: { certSANs: ['api.example.com'] } } });
    const text = `${renderPlan(plan)}${JSON.stringify(plan)}`;
    expect(text).toContain('~ Secret default/tenant-api-server-certificate');
    expect(plan.pods.reasons.join()).toContain('Secret with component api-server-certificate changes');
    const { items } = await world.cluster.admin.list(kinds.Secret, { namespace: 'default' });
    const values = items.flatMap(({ data = {} }) => Object.values(data)).filter((value) => value.length > 16);
    expect(values.length).toBeGreaterThan(5);
    for (const value of values) expect(text).not.toContain(value);
    expect(text).not.toMatch(/BEGIN|LS0tLS1/);
  });

  test('has only the answer of admission if that refuses the manifest', async () => {
    const text = renderPlan(await planned(await running(), { spec: { kubernetes: { version: 'v1.99.0' } } }));
    expect(text).toMatch(
      /^Plan for TenantControlPlane default\/tenant\nRefused: .*spec\.kubernetes\.version.*v1\.99\.0/,
    );
    expect(text).not.toContain('Pods');
  });

  test('says that nothing restarts', async () => {
    const plan = await planned(await running(), { metadata: { labels: { team: 'blue' } } });
    expect(renderPlan(plan)).toContain('Version: stays v1.36.3\nPods: nothing restarts\n');
  });

  test('of a new control plane lists what is created, and how many pods start', async () => {
    const world = await running();
    const plan = await planOf(world, tenantControlPlaneWith({ metadata: { name: 'other', resourceVersion: '' } }));
    const text = renderPlan(plan);
    expect(text).toContain('Pods: 2 start');
    for (const object of ['Service', 'Deployment', 'PodDisruptionBudget', 'NetworkPolicy'])
      expect(text).toContain(`  + ${object} default/other\n`);
    expect(text).toContain('  + Secret default/other-ca\n');
    expect(plan.objects.filter(({ name }) => !name.startsWith('other')).map(({ where }) => where)).not.toContain(
      'management cluster',
    );
  });

  test('begins after a rollout that is under way, and says so', async () => {
    const world = await running();
    const hold = { metadata: { annotations: { [annotations.rollout]: '2030-01-01T00:00:00Z abc' } } };
    await world.cluster.admin.patch(
      kinds.Deployment,
      { namespace: 'default', name: 'tenant' },
      { type: 'merge', body: { ...hold, spec: { minReadySeconds: 2_147_483_646 } } },
    );
    const plan = await planned(world, { spec: { controlPlane: { deployment: { replicas: 3 } } } });
    expect(renderPlan(plan)).toContain('Note: a rollout is under way');
    expect(plan.pods).toMatchObject({ action: 'scale', from: 2, to: 3 });
  });

  test('is not made from what cannot be read', async () => {
    const world = await running();
    const reader = clusterReader(world.cluster.admin);
    const withoutSecrets: typeof reader = {
      ...reader,
      list: (kind, selection) =>
        kind.kind === 'Secret' ? Promise.reject(new Error('secrets is forbidden')) : reader.list(kind, selection),
    };
    await expect(planOf(world, await world.read(), withoutSecrets)).rejects.toThrow(
      'a plan needs to read what the manager reads: secrets is forbidden',
    );
  });
});

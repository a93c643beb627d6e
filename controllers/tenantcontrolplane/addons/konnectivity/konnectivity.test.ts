import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { ConfigMap, Service } from '../../../../api/core/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { parseKubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { callsOf, tenantShape, untilDeath } from '../../../../testing/worlds/tenant-shape.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };
const agentKey = { namespace: 'kube-system', name: 'konnectivity-agent' };
const configMapName = 'konnectivity-egress-selector-configuration';
const on = (changes: Parameters<typeof konnectivityAddon>[0] = {}): object => ({
  spec: { addons: { konnectivity: konnectivityAddon(changes) } },
});
const off = { spec: { addons: { konnectivity: null } } };

async function running(addons: object = { konnectivity: konnectivityAddon() }): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ spec: { dataStore: 'default', addons } });
  await world.settle();
  return world;
}

async function agentObjects(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    [kinds.ServiceAccount, kinds.ClusterRoleBinding, kinds.DaemonSet, kinds.Deployment].map(async (kind) => {
      const { items } = await world.tenant.admin.list<Resource>(kind);
      return items.map(({ metadata }) => `${kind.kind}/${metadata.name}`);
    }),
  );
  return all.flat().filter((name) => name.includes('konnectivity'));
}

const service = (world: TenantWorld): Promise<Service | undefined> => world.cluster.admin.get(kinds.Service, key);

const text = (data: Readonly<Record<string, string>> | undefined, name: string): string =>
  Buffer.from(data?.[name] ?? '', 'base64').toString();

/** What the pods, the Service and the Secrets of a tenant say. */
async function manifests(world: TenantWorld): Promise<unknown> {
  return {
    deployment: (await world.deployment())?.spec,
    service: (await service(world))?.spec,
    shape: await tenantShape(world),
  };
}

describe('a tenant with konnectivity', () => {
  test('is Ready, with the server beside its API server and the agents inside', async () => {
    const world = await running();
    expect(await world.condition('AddonsReady')).toBe('True');
    expect(await agentObjects(world)).toEqual([
      'ServiceAccount/konnectivity-agent',
      'ClusterRoleBinding/system:konnectivity-server',
      'DaemonSet/konnectivity-agent',
    ]);
    const { ports } = (await service(world))?.spec ?? {};
    expect(ports?.map(({ name, port }) => [name, port])).toEqual([
      ['kube-apiserver', 6443],
      ['konnectivity-server', 8132],
    ]);
    const configMap = await world.configMap(configMapName);
    expect(configMap?.data?.['egress-selector-configuration.yaml']).toContain('konnectivity-server.socket');
  });

  test('is reported in the status', async () => {
    const { status } = await (await running()).read();
    expect(status?.addons?.konnectivity).toMatchObject({
      enabled: true,
      configMap: { name: `tenant-${configMapName}` },
      certificate: { secretName: 'tenant-konnectivity-certificate' },
      kubeconfig: { secretName: 'tenant-konnectivity-kubeconfig' },
      sa: { name: 'konnectivity-agent', namespace: 'kube-system' },
      clusterrolebinding: { name: 'system:konnectivity-server' },
      agent: { name: 'konnectivity-agent', namespace: 'kube-system', mode: 'DaemonSet' },
      service: { name: 'tenant', namespace: 'default', port: 8132 },
    });
  });

  test('has the keys of the server in two Secrets: a TLS Secret and a kubeconfig', async () => {
    const world = await running();
    const certificate = await world.secret('konnectivity-certificate');
    expect(certificate?.type).toBe('kubernetes.io/tls');
    expect(Object.keys(certificate?.data ?? {})).toEqual(['tls.crt', 'tls.key']);
    const kubeconfig = parseKubeconfig(
      text((await world.secret('konnectivity-kubeconfig'))?.data, 'konnectivity-server.conf'),
    );
    expect(kubeconfig).toMatchObject({
      clusterName: 'kubernetes',
      user: 'system:konnectivity-server',
      server: 'https://localhost:6443',
    });
  });

  test('gets new pods and new keys when its CA is replaced', async () => {
    const world = await running();
    const labels = async (): Promise<Readonly<Record<string, string>>> =>
      (await world.deployment())?.spec?.template.metadata?.labels ?? {};
    const before = await labels();
    const patch = { type: 'merge', body: { metadata: { annotations: { [annotations.rotate]: '' } } } } as const;
    await world.cluster.admin.patch(kinds.Secret, { ...key, name: 'tenant-ca' }, patch);
    await world.settle();
    const after = await labels();
    for (const component of ['konnectivity-certificate', 'konnectivity-kubeconfig']) {
      const label = `component.steward.butlerlabs.dev/${component}`;
      expect(after[label]).toMatch(/^[0-9a-f]{32}$/);
      expect(after[label]).not.toBe(before[label]);
    }
    const ca = text((await world.secret('ca'))?.data, 'ca.crt');
    const conf = text((await world.secret('konnectivity-kubeconfig'))?.data, 'konnectivity-server.conf');
    expect(parseKubeconfig(conf).ca.trim()).toBe(ca.trim());
  });

  test('has agents that dial the node port which the API server chose', async () => {
    const world = new TenantWorld();
    await world.create({
      service: { serviceType: 'NodePort' },
      networkProfile: { address: '192.0.2.7' },
      spec: { dataStore: 'default', addons: { konnectivity: konnectivityAddon() } },
    });
    await world.settle();
    const daemonSet = await world.tenant.admin.get(kinds.DaemonSet, agentKey);
    const args = daemonSet?.spec?.template.spec?.containers[0]?.args;
    expect(args).toEqual(expect.arrayContaining(['--proxy-server-host=192.0.2.7', '--proxy-server-port=31234']));
  });

  test('replaces the DaemonSet with a Deployment when the mode changes', async () => {
    const world = await running();
    await world.change(on({ agent: { mode: 'Deployment', replicas: 3 } }));
    await world.settle();
    expect(await agentObjects(world)).toContain('Deployment/konnectivity-agent');
    expect(await agentObjects(world)).not.toContain('DaemonSet/konnectivity-agent');
    const deployment = await world.tenant.admin.get(kinds.Deployment, agentKey);
    expect(deployment?.spec?.replicas).toBe(3);
    expect((await world.read()).status?.addons?.konnectivity?.agent?.mode).toBe('Deployment');
  });

  test('has its objects restored after they were deleted or edited, on both sides', async () => {
    const world = await running();
    const configMap = { ...key, name: `tenant-${configMapName}` };
    await world.cluster.admin.patch<ConfigMap>(kinds.ConfigMap, configMap, {
      type: 'merge',
      body: { data: { 'egress-selector-configuration.yaml': 'mine' } },
    });
    await world.cluster.admin.delete(kinds.Secret, { ...key, name: 'tenant-konnectivity-certificate' });
    await world.tenant.admin.delete(kinds.DaemonSet, agentKey);
    await world.tenant.admin.patch(
      kinds.ClusterRoleBinding,
      { name: 'system:konnectivity-server' },
      { type: 'merge', body: { subjects: [] } },
    );
    await world.settle();
    await world.clock.advance(15 * 60_000);
    await world.settle();
    expect((await world.configMap(configMapName))?.data?.['egress-selector-configuration.yaml']).not.toBe('mine');
    expect(await world.secret('konnectivity-certificate')).toBeDefined();
    expect(await agentObjects(world)).toContain('DaemonSet/konnectivity-agent');
    const binding = await world.tenant.admin.get(kinds.ClusterRoleBinding, { name: 'system:konnectivity-server' });
    expect(binding?.subjects).toMatchObject([{ kind: 'User', name: 'system:konnectivity-server' }]);
  });

  test('writes nothing at rest', async () => {
    const world = await running();
    const before = await world.writes();
    await world.reconcile();
    expect(await world.writes()).toBe(before);
  });
});

describe('konnectivity that is disabled', () => {
  test('leaves exactly what was there before, on both sides, and can be enabled and disabled again', async () => {
    const world = await running({});
    const before = await manifests(world);
    for (let times = 0; times < 2; times += 1) {
      await world.change(on());
      await world.settle();
      expect(await agentObjects(world)).toHaveLength(3);
      expect(await world.secret('konnectivity-kubeconfig')).toBeDefined();
      expect((await world.read()).status?.addons?.konnectivity?.enabled).toBe(true);
      await world.change(off);
      await world.settle();
      expect(await agentObjects(world)).toEqual([]);
      expect(await manifests(world)).toEqual(before);
      expect((await world.read()).status?.addons?.konnectivity).toEqual({ enabled: false });
    }
  });

  test('serves until no pod needs it', async () => {
    const world = await running();
    world.podsStart = false;
    await world.change(off);
    await world.settle();
    await world.reportPods({ replicas: 4, updatedReplicas: 2, readyReplicas: 3, unavailableReplicas: 1 });
    await world.settle();
    expect(await agentObjects(world)).toHaveLength(3);
    expect(await world.secret('konnectivity-kubeconfig')).toBeDefined();
    await world.startPods();
    await world.settle();
    expect(await agentObjects(world)).toEqual([]);
    expect(await world.secret('konnectivity-kubeconfig')).toBeUndefined();
    expect(await world.configMap(configMapName)).toBeUndefined();
  });

  test('serves terminating pods until they have ended', async () => {
    const world = await running();
    const labels = (await world.deployment())?.spec?.template.metadata?.labels ?? {};
    const pod = { namespace: 'default', name: 'leaving' };
    await world.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata: { ...pod, labels } });
    await world.change(off);
    const end = await world.settle();
    expect(end.afterMs).toBeLessThanOrEqual(2_000);
    expect(await agentObjects(world)).toHaveLength(3);
    expect(await world.condition('AddonsReady')).toBe('True');
    await world.cluster.admin.delete(kinds.Pod, pod);
    await world.settle();
    expect(await agentObjects(world)).toEqual([]);
  });

  test('is removed even if the process dies after any call', async () => {
    const measured = await running();
    await measured.change(off);
    const total = await callsOf(measured, () => measured.settle());
    const expected = await tenantShape(measured);
    expect(JSON.stringify(expected)).not.toContain('konnectivity');
    const made = measured.cluster.calls.slice(-total);
    expect(made.filter(({ verb }) => verb === 'delete').map(({ name }) => name)).toEqual([
      `tenant-${configMapName}`,
      'tenant-konnectivity-certificate',
      'tenant-konnectivity-kubeconfig',
    ]);
    // After these the rest may be done by somebody who has seen nothing of it.
    const isMoment = ({ kind, verb }: (typeof made)[number]): boolean =>
      verb === 'delete' ||
      (['apply', 'patch'].includes(verb) && /Deployment|Service|TenantControlPlane/.test(kind?.kind ?? ''));
    const moments = made.flatMap((call, index) => (isMoment(call) ? [index + 1] : []));
    expect(moments.length).toBeGreaterThan(4);
    for (const calls of moments) {
      const world = await running();
      await world.change(off);
      // The last call takes effect but its answer never arrives.
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      expect({ calls, crashed: world.cluster.crashed }).toEqual({ calls, crashed: true });
      world.restart();
      await world.settle();
      expect({ calls, shape: await tenantShape(world) }).toEqual({ calls, shape: expected });
      expect(await agentObjects(world)).toEqual([]);
    }
  }, 300_000);

  test('is removed outside a tenant that sleeps, and inside it when it wakes up', async () => {
    const world = await running();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await world.change(off);
    await world.settle();
    expect(await world.secret('konnectivity-kubeconfig')).toBeUndefined();
    expect(await world.secret('konnectivity-certificate')).toBeUndefined();
    expect(await world.configMap(configMapName)).toBeUndefined();
    expect(await agentObjects(world)).toHaveLength(3);
    world.restart();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await world.settle();
    expect(await agentObjects(world)).toEqual([]);
    expect((await world.read()).status?.addons?.konnectivity).toEqual({ enabled: false });
  });

  test('does not delete a ConfigMap of that name that it does not own', async () => {
    const world = await running();
    await world.cluster.admin.delete(kinds.ConfigMap, { ...key, name: `tenant-${configMapName}` });
    await world.change(off);
    await world.cluster.seed(kinds.ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: `tenant-${configMapName}` },
    });
    await world.settle();
    // It came to the point where it would have been removed.
    expect(await world.secret('konnectivity-kubeconfig')).toBeUndefined();
    expect(await agentObjects(world)).toEqual([]);
    expect(await world.configMap(configMapName)).toBeDefined();
  });
});

describe('a tenant without konnectivity', () => {
  test('has no object of it, and gets no request about it', async () => {
    const world = await running({ coreDNS: {} });
    expect(JSON.stringify(await manifests(world))).not.toMatch(/konnectivity|egress|8132/);
    await world.change({ spec: { networkProfile: { certSANs: ['example.org'] } } });
    const lists = world.tenant.calls.filter(({ verb, kind }) => verb === 'list' && kind?.kind === 'ServiceAccount');
    await world.settle();
    const after = world.tenant.calls.filter(({ verb, kind }) => verb === 'list' && kind?.kind === 'ServiceAccount');
    // kube-proxy, which was never asked for either, is looked for once.
    expect(after.length - lists.length).toBeLessThanOrEqual(1);
    expect((await world.read()).status?.addons?.konnectivity).toBeUndefined();
  });
});

import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Resource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { StoreError } from '../../stores/store-error.ts';
import { TenantWorld } from '../../testing/worlds/tenant-world.ts';
import type { TenantControlPlaneChanges } from '../../testing/builders/tenant-control-plane.ts';

async function running(changes: TenantControlPlaneChanges = {}): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create(changes);
  await world.settle();
  return world;
}

const bothAddons: TenantControlPlaneChanges = {
  spec: { dataStore: 'default', addons: { coreDNS: {}, kubeProxy: {} } },
};

async function tenantNames(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    [kinds.ConfigMap, kinds.Deployment, kinds.DaemonSet, kinds.ClusterRoleBinding].map(async (kind) => {
      const { items } = await world.tenant.admin.list<Resource>(kind);
      return items.map(({ metadata }) => `${kind.kind}/${metadata.name}`);
    }),
  );
  return all.flat().sort();
}

describe('Creating a TenantControlPlane', () => {
  test('leads to Ready, with every condition True', async () => {
    const world = await running(bothAddons);
    const { status } = await world.read();
    expect(status?.conditions?.filter(({ status: value }) => value !== 'True')).toEqual([]);
    expect(status?.kubernetesResources?.version).toEqual({ status: 'Ready', version: 'v1.36.3' });
    expect(status?.observedGeneration).toBe(1);
  });

  test('writes the status fields that clients of Steward read', async () => {
    const { status } = await (await running(bothAddons)).read();
    expect(status?.kubeconfig?.admin?.secretName).toBe('tenant-admin-kubeconfig');
    expect(status?.storage).toMatchObject({ driver: 'etcd', dataStoreName: 'default' });
    expect(status?.storage?.setup?.schema).toBe(status?.storage?.setup?.user);
    expect(status?.controlPlaneEndpoint).toMatch(/^10\.96\..*:6443$/);
    expect(status?.kubernetesResources?.service?.port).toBe(6443);
    expect(status?.kubernetesResources?.deployment).toMatchObject({
      selector: 'steward.butlerlabs.dev/name=tenant',
      replicas: 2,
    });
    const { generation, observedGeneration } = status?.kubernetesResources?.deployment ?? {};
    expect([generation, observedGeneration]).toEqual([expect.any(Number), generation]);
    expect(status?.addons).toMatchObject({ coreDNS: { enabled: true }, kubeProxy: { enabled: true } });
    expect(status?.kubeadmconfig?.configmapName).toBe('tenant-kubeadmconfig');
    expect(status?.kubeadmPhase?.bootstrapToken.checksum).toBeDefined();
  });

  test('takes one reconcile until the pods are requested, and one more when they are ready', async () => {
    const world = new TenantWorld();
    world.podsStart = false;
    await world.create();
    await world.reconcile();
    expect(await world.deployment()).toBeDefined();
    expect(await world.state()).toBe('Provisioning');
    await world.startPods();
    await world.reconcile();
    expect(await world.state()).toBe('Ready');
  });

  test('creates the objects that nodes need in the tenant', async () => {
    expect(await tenantNames(await running(bothAddons))).toEqual(
      expect.arrayContaining([
        'ClusterRoleBinding/kubeadm:cluster-admins',
        'ClusterRoleBinding/kubeadm:kubelet-bootstrap',
        'ConfigMap/cluster-info',
        'ConfigMap/coredns',
        'ConfigMap/kube-proxy',
        'ConfigMap/kubeadm-config',
        'ConfigMap/kubelet-config',
        'DaemonSet/kube-proxy',
        'Deployment/coredns',
      ]),
    );
  });

  test('exposes nothing about its datastore and its Service in the management cluster to the tenant', async () => {
    const world = await running(bothAddons);
    const key = { namespace: 'kube-system', name: 'kubeadm-config' };
    const text = (await world.tenant.admin.get(kinds.ConfigMap, key))?.data?.ClusterConfiguration ?? '';
    const { schema = 'absent', user = 'absent' } = (await world.read()).status?.storage?.setup ?? {};
    const store = (await world.cluster.admin.get(dataStore, { name: 'default' }))?.spec.endpoints ?? [];
    expect(store).not.toEqual([]);
    for (const secret of [schema, user, 'tenant.default.svc', ...store]) expect(text).not.toContain(secret);
    const own = { namespace: 'default', name: 'tenant-kubeadmconfig' };
    const ofOperators = JSON.stringify((await world.cluster.admin.get(kinds.ConfigMap, own))?.data);
    for (const known of ['tenant.default.svc', ...store]) expect(ofOperators).toContain(known);
  });

  test('uses the node port that the API server chose for everything', async () => {
    const world = new TenantWorld();
    await world.cluster.seed(kinds.Node, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node' },
      status: { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] },
    });
    await world.create({ service: { serviceType: 'NodePort' } });
    await world.settle();
    const service = await world.cluster.admin.get(kinds.Service, { namespace: 'default', name: 'tenant' });
    expect(service?.spec?.ports).toEqual([
      { name: 'kube-apiserver', protocol: 'TCP', port: 31234, targetPort: 31234, nodePort: 31234 },
    ]);
    expect((await world.read()).status?.controlPlaneEndpoint).toBe('192.0.2.7:31234');
    const args = (await world.deployment())?.spec?.template.spec?.containers[0]?.args;
    expect(args).toEqual(expect.arrayContaining(['--advertise-address=192.0.2.7', '--secure-port=31234']));
  });

  test('waits for the address of a load balancer, and reports that', async () => {
    const world = await running({ service: { serviceType: 'LoadBalancer' } });
    expect(await world.condition('EndpointReady')).toContain('NotExposed');
    expect(await world.condition('StoreReady')).toContain('True');
    expect(await world.deployment()).toBeUndefined();
    const at = { namespace: 'default', name: 'tenant' };
    const giveAddress = (ingress: object): Promise<unknown> =>
      world.cluster.admin.patch(
        kinds.Service,
        at,
        { type: 'merge', body: { status: { loadBalancer: { ingress: [ingress] } } } },
        { subresource: 'status' },
      );
    await giveAddress({ ip: '198.51.100.4' });
    await world.settle();
    expect((await world.read()).status?.controlPlaneEndpoint).toBe('198.51.100.4:6443');
    expect(await world.state()).toBe('Ready');
  });
});

describe('A running TenantControlPlane', () => {
  test('is not changed when its DataStore is gone', async () => {
    const world = await running();
    const before = await world.deployment();
    await world.cluster.admin.delete(dataStore, { name: 'default' });
    world.restart();
    await world.settle();
    expect(await world.deployment()).toEqual(before);
    expect(await world.condition('StoreReady')).toContain('DataStore default does not exist');
    expect(await world.state()).toBe('Ready');
  });

  test('reports what its DataStore is known to lack, and when that is over', async () => {
    const world = await running();
    const before = await world.deployment();
    const evaluate = (status: string, reason: string, message: string): Promise<unknown> =>
      world.cluster.admin.patch(
        dataStore,
        { name: 'default' },
        { type: 'merge', body: { status: { conditions: [{ type: 'Ready', status, reason, message }] } } },
        { subresource: 'status' },
      );
    await evaluate('False', 'Unreachable', 'Reachable: etcd:2379: no answer');
    await world.settle();
    expect(await world.condition('StoreReady')).toBe(
      'False Unreachable: DataStore default cannot be used: Reachable: etcd:2379: no answer; running pods are left alone',
    );
    expect(await world.condition('Ready')).toContain('False NotReady: StoreReady: DataStore default cannot be used');
    expect(world.events.join()).toContain('Unreachable: DataStore default cannot be used');
    expect(await world.deployment()).toEqual(before);
    await evaluate('True', 'Ready', '');
    await world.settle();
    expect(await world.condition('Ready')).toBe('True');
  });

  test('is rolled out although its datastore is down', async () => {
    const world = await running();
    world.store.failure = new StoreError('Unreachable', 'etcd:2379: no answer');
    world.restart();
    await world.change({ spec: { kubernetes: { version: 'v1.36.4' } } });
    await world.settle();
    expect(await world.condition('StoreReady')).toBe('False Unreachable: etcd:2379: no answer');
    expect((await world.deployment())?.spec?.template.spec?.containers[0]?.image).toMatch(/:v1\.36\.4$/);
  });

  test('gets a new certificate in place of a broken one, and its pods are replaced', async () => {
    const world = await running();
    const label = 'component.steward.butlerlabs.dev/api-server-certificate';
    const before = (await world.deployment())?.spec?.template.metadata?.labels?.[label];
    const body = { data: { 'apiserver.crt': Buffer.from('nonsense').toString('base64') } };
    const key = { namespace: 'default', name: 'tenant-api-server-certificate' };
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body });
    await world.settle();
    expect(
      Buffer.from((await world.secret('api-server-certificate'))?.data?.['apiserver.crt'] ?? '', 'base64').toString(),
    ).toContain('BEGIN CERTIFICATE');
    expect((await world.deployment())?.spec?.template.metadata?.labels?.[label]).not.toBe(before);
    expect(world.events.join()).toContain('Secret tenant-api-server-certificate is reissued');
  });

  test.each(['ca', 'front-proxy-ca-certificate', 'sa-certificate'])(
    'continues to run and names the fix when the Secret of %s is broken or deleted',
    async (suffix) => {
      const world = await running();
      const before = await world.deployment();
      const key = { namespace: 'default', name: `tenant-${suffix}` };
      const data = Object.keys((await world.secret(suffix))?.data ?? {});
      const nonsense = Object.fromEntries(data.map((name) => [name, 'bm9uc2Vuc2U=']));
      await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body: { data: nonsense } });
      await world.settle();
      expect(await world.condition('CertificatesReady')).toContain(
        `SecretBroken: Secret tenant-${suffix} cannot be used`,
      );
      expect((await world.secret(suffix))?.data).toEqual(nonsense);
      await world.cluster.admin.delete(kinds.Secret, key);
      await world.settle();
      expect(await world.condition('CertificatesReady')).toContain(`SecretBroken: Secret tenant-${suffix} is missing`);
      expect(await world.secret(suffix)).toBeUndefined();
      expect(await world.deployment()).toEqual(before);
      expect(await world.state()).toBe('Ready');
    },
  );

  test('keeps the CA whose Secret only lost its labels, and adds them again', async () => {
    const world = await running();
    const before = await world.secret('ca');
    const key = { namespace: 'default', name: 'tenant-ca' };
    const labels = Object.fromEntries(Object.keys(before?.metadata.labels ?? {}).map((name) => [name, null]));
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body: { metadata: { labels } } });
    await world.settle();
    expect((await world.secret('ca'))?.data).toEqual(before?.data);
    expect((await world.secret('ca'))?.metadata.labels).toEqual(before?.metadata.labels);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('repairs the CA from its second copy in the Secret', async () => {
    const world = await running();
    const good = (await world.secret('ca'))?.data;
    const key = { namespace: 'default', name: 'tenant-ca' };
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body: { data: { 'ca.crt': 'bm9uc2Vuc2U=' } } });
    await world.settle();
    expect((await world.secret('ca'))?.data).toEqual(good);
  });

  test('generates a new CA if the annotation requests it, and everything that it signs', async () => {
    const world = await running();
    const ca = (await world.secret('ca'))?.data;
    const key = { namespace: 'default', name: 'tenant-ca' };
    world.podsStart = false;
    const body = { metadata: { annotations: { [annotations.rotate]: '' } } };
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body });
    await world.settle();
    expect((await world.secret('ca'))?.data).not.toEqual(ca);
    expect((await world.secret('ca'))?.metadata.annotations?.[annotations.rotate]).toMatch(/^2030-01-01T/);
    expect(await world.state()).toBe('CertificateAuthorityRotating');
    await world.startPods();
    await world.settle();
    expect(await world.state()).toBe('Ready');
  });

  test('renews its certificates a day before they expire, and not earlier', async () => {
    const world = await running();
    const day = 24 * 60 * 60 * 1000;
    const before = (await world.secret('admin-kubeconfig'))?.data;
    await world.clock.advance(363 * day);
    await world.settle();
    expect((await world.secret('admin-kubeconfig'))?.data).toEqual(before);
    await world.clock.advance(day);
    await world.settle();
    expect((await world.secret('admin-kubeconfig'))?.data).not.toEqual(before);
    expect(await world.state()).toBe('Ready');
  });

  test('gets back what its administrators removed, without a request', async () => {
    const world = await running(bothAddons);
    await world.tenant.admin.delete(kinds.DaemonSet, { namespace: 'kube-system', name: 'kube-proxy' });
    const { afterMs = 0 } = await world.settle();
    expect(afterMs).toBeLessThanOrEqual(15 * 60_000);
    await world.clock.advance(afterMs);
    await world.settle();
    expect(await tenantNames(world)).toContain('DaemonSet/kube-proxy');
  });

  test('gets no requests between two changes', async () => {
    const world = await running(bothAddons);
    const before = world.tenant.calls.length;
    await world.reconcile();
    expect(world.tenant.calls.slice(before).map(({ verb }) => verb)).toEqual(['text']);
  });

  test('reports an upgrade and skips no minor, even during another one', async () => {
    const world = await running({ kubernetes: { version: 'v1.34.1' } });
    world.podsStart = false;
    await world.change({ spec: { kubernetes: { version: 'v1.35.0' } } });
    await world.settle();
    expect(await world.state()).toBe('Upgrading');
    await world.change({ spec: { kubernetes: { version: 'v1.36.0' } } });
    await world.settle();
    expect(await world.condition('ControlPlaneAvailable')).toContain('skips a minor version after v1.34.1');
    expect((await world.deployment())?.spec?.template.spec?.containers[0]?.image).toMatch(/:v1\.35\.0$/);
    await world.change({ spec: { kubernetes: { version: 'v1.35.0' } } });
    await world.startPods();
    await world.settle();
    expect((await world.read()).status?.kubernetesResources?.version).toEqual({ status: 'Ready', version: 'v1.35.0' });
  });

  test('upgrades its nodes’ documents only when all its API servers have the new version', async () => {
    const world = await running({ ...bothAddons, kubernetes: { version: 'v1.35.4' } });
    const proxy = async (): Promise<string | undefined> => {
      const key = { namespace: 'kube-system', name: 'kube-proxy' };
      const found = await world.tenant.admin.get(kinds.DaemonSet, key);
      return found?.spec?.template.spec?.containers[0]?.image;
    };
    world.podsStart = false;
    await world.change({ spec: { kubernetes: { version: 'v1.36.3' } } });
    await world.settle();
    await world.reportPods({ replicas: 4, updatedReplicas: 2, readyReplicas: 3, unavailableReplicas: 1 });
    await world.settle();
    expect(await proxy()).toMatch(/:v1\.35\.4$/);
    await world.startPods();
    await world.settle();
    expect(await proxy()).toMatch(/:v1\.36\.3$/);
  });

  test('is restarted by kubectl rollout restart, which is not reverted', async () => {
    const world = await running();
    const restartedAt = '2030-01-01T00:00:00Z';
    const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': restartedAt } } };
    const key = { namespace: 'default', name: 'tenant' };
    const options = { fieldManager: 'kubectl-rollout' };
    await world.cluster.admin.patch(kinds.Deployment, key, { type: 'merge', body: { spec: { template } } }, options);
    const after = (await world.deployment())?.metadata.generation;
    await world.change({ spec: { controlPlane: { deployment: { replicas: 3 } } } });
    await world.settle();
    world.restart();
    await world.settle();
    const deployment = await world.deployment();
    expect(deployment?.spec?.template.metadata?.annotations).toMatchObject(template.metadata.annotations);
    expect(deployment?.spec?.replicas).toBe(3);
    expect(deployment?.metadata.generation).toBe((after ?? 0) + 1);
  });

  test('reports a selector for autoscalers that selects its pods, and no others', async () => {
    const world = await running();
    const pods = (await world.deployment())?.spec;
    const selector = (await world.read()).status?.kubernetesResources?.deployment?.selector ?? '';
    const [name = '', value] = selector.split('=');
    expect(pods?.selector.matchLabels).toEqual({ [name]: value });
    expect(pods?.template.metadata?.labels?.[name]).toBe('tenant');
  });

  test('is scaled to zero pods and back', async () => {
    const world = await running();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    expect(await world.state()).toBe('Sleeping');
    expect(await world.condition('Ready')).toContain('Sleeping');
    await world.change({ spec: { controlPlane: { deployment: { replicas: 1 } } } });
    await world.settle();
    expect(await world.state()).toBe('Ready');
  });

  test('is NotReady when its pods are not, and reports what they report', async () => {
    const world = await running();
    world.podsStart = false;
    await world.reportPods({ replicas: 2, updatedReplicas: 2, readyReplicas: 0, unavailableReplicas: 2 });
    await world.clock.advance(60_000);
    await world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'tenant-1', namespace: 'default', labels: { 'steward.butlerlabs.dev/name': 'tenant' } },
      status: {
        containerStatuses: [
          {
            name: 'kube-apiserver',
            ready: false,
            restartCount: 3,
            state: { waiting: { reason: 'ImagePullBackOff', message: 'not found' } },
          },
        ],
      },
    });
    await world.settle();
    expect(await world.state()).toBe('NotReady');
    expect(await world.condition('ControlPlaneAvailable')).toContain(
      'container kube-apiserver of pod tenant-1: ImagePullBackOff',
    );
  });

  test('loses an add-on that is no longer requested, and nothing else', async () => {
    const world = await running(bothAddons);
    await world.change({ spec: { addons: { coreDNS: null } } });
    await world.settle();
    const names = await tenantNames(world);
    expect(names).not.toContain('Deployment/coredns');
    expect(names).not.toContain('ConfigMap/coredns');
    expect(names).toContain('DaemonSet/kube-proxy');
    expect((await world.read()).status?.addons?.coreDNS?.enabled).toBe(false);
  });

  test('keeps the Corefile that the tenant has changed', async () => {
    const world = await running(bothAddons);
    const key = { namespace: 'kube-system', name: 'coredns' };
    await world.tenant.admin.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: { Corefile: 'mine' } } });
    world.restart();
    await world.settle();
    expect((await world.tenant.admin.get(kinds.ConfigMap, key))?.data?.Corefile).toBe('mine');
  });
});

describe('Pausing a TenantControlPlane', () => {
  const pause = { metadata: { annotations: { [annotations.paused]: '' } } };
  const resume = { metadata: { annotations: { [annotations.paused]: null } } };
  const paused = async (world: TenantWorld): Promise<unknown> =>
    (await world.read()).status?.conditions?.find(({ type }) => type === 'Paused');

  test('is shown by a condition, and changes nothing else', async () => {
    const world = await running();
    const before = await world.read();
    expect(await paused(world)).toBeUndefined();
    await world.change({ ...pause, spec: { controlPlane: { deployment: { replicas: 5 } } } });
    await world.settle();
    expect(await paused(world)).toMatchObject({
      ...{ status: 'True', reason: 'Paused', observedGeneration: 2 },
      message: `the annotation ${annotations.paused} is set`,
    });
    const { status } = await world.read();
    const others = status?.conditions?.filter(({ type }) => type !== 'Paused');
    expect({ ...status, conditions: others }).toEqual(before.status);
    expect((await world.deployment())?.spec?.replicas).toBe(2);
  });

  test('ends with what was changed meanwhile', async () => {
    const world = await running();
    await world.change({ ...pause, spec: { controlPlane: { deployment: { replicas: 5 } } } });
    await world.settle();
    await world.change(resume);
    await world.settle();
    expect(await paused(world)).toMatchObject({ status: 'False', reason: 'NotPaused', message: '' });
    expect((await world.deployment())?.spec?.replicas).toBe(5);
  });

  test('holds a deletion, too', async () => {
    const world = await running();
    await world.change(pause);
    await world.settle();
    await world.cluster.admin.delete(tenantControlPlane, (await world.read()).metadata);
    await world.settle();
    expect(await paused(world)).toMatchObject({ status: 'True' });
  });
});

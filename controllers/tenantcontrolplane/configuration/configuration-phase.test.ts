import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { labels } from '../../../api/names.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { configuredKubernetes } from '../../../testing/builders/configured-kubernetes.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { webhookSecretWatch } from '../watches.ts';
import { SecretReaders } from './secret-readers.ts';

const folder = '/etc/kubernetes/configuration';

const audit = (level: 'Metadata' | 'Request') => ({ audit: { log: true, policy: { rules: [{ level }] } } });

async function seed(world: TenantWorld, name: string, data: Readonly<Record<string, string>>): Promise<void> {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  const metadata = { name, namespace: 'default' };
  await world.cluster.seed(kinds.Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata,
    data: Object.fromEntries(encoded) as Record<string, string>,
  });
}

async function credentials(world: TenantWorld): Promise<void> {
  await seed(world, 'guard-credentials', { token: 'first' });
  await seed(world, 'audit-credentials', { username: 'steward', password: 'hidden' });
}

/** The Secrets with configuration files, by name. */
async function secrets(world: TenantWorld): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const labelSelector = `${labels.component}=kube-apiserver-configuration`;
  const { items } = await world.cluster.admin.list(kinds.Secret, { namespace: 'default', labelSelector });
  return new Map(items.map(({ metadata, data }) => [metadata.name, data ?? {}]));
}

async function mounted(world: TenantWorld): Promise<string | undefined> {
  const volumes = (await world.deployment())?.spec?.template.spec?.volumes ?? [];
  return volumes.find(({ name }) => name === 'kube-apiserver-configuration')?.secret?.secretName;
}

async function apiServer(world: TenantWorld) {
  const found = (await world.deployment())?.spec?.template.spec?.containers.find(
    ({ name }) => name === 'kube-apiserver',
  );
  if (found === undefined) throw new Error('there is no kube-apiserver');
  return found;
}

describe('The files that configure kube-apiserver', () => {
  test('are in a Secret that only its container mounts, and its flags name them', async () => {
    const world = new TenantWorld();
    await credentials(world);
    await world.create({ kubernetes: configuredKubernetes });
    await world.settle();
    const all = await secrets(world);
    const [name] = [...all.keys()];
    expect(all.size).toBe(1);
    expect(Object.keys(all.get(name ?? '') ?? {})).toEqual([
      'admission.yaml',
      'audit-policy.yaml',
      'audit-webhook.kubeconfig',
      'authentication.yaml',
      'authorization-grants.kubeconfig',
      'authorization-guard.kubeconfig',
      'authorization.yaml',
    ]);
    expect(await mounted(world)).toBe(name);
    const { args = [], volumeMounts = [] } = await apiServer(world);
    expect(volumeMounts).toContainEqual({
      name: 'kube-apiserver-configuration',
      mountPath: folder,
      readOnly: true,
    });
    expect(args).toEqual(
      expect.arrayContaining([
        `--authentication-config=${folder}/authentication.yaml`,
        `--authorization-config=${folder}/authorization.yaml`,
        `--admission-control-config-file=${folder}/admission.yaml`,
        `--audit-policy-file=${folder}/audit-policy.yaml`,
        '--audit-log-path=-',
      ]),
    );
    // kube-apiserver does not start with both.
    expect(args.some((argument) => argument.startsWith('--authorization-mode'))).toBe(false);
    const others = (await world.deployment())?.spec?.template.spec?.containers ?? [];
    const users = others.filter((one) =>
      one.volumeMounts?.some((mount) => mount.name === 'kube-apiserver-configuration'),
    );
    expect(users.map((one) => one.name)).toEqual(['kube-apiserver']);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('change nothing for a tenant that configures nothing', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    expect(await mounted(world)).toBeUndefined();
    expect((await secrets(world)).size).toBe(0);
    expect((await apiServer(world)).args).toContain('--authorization-mode=Node,RBAC');
  });

  test('come with new pods, while the old pods keep theirs', async () => {
    const world = new TenantWorld();
    await world.create({ kubernetes: audit('Metadata') });
    await world.settle();
    const before = await mounted(world);
    world.podsStart = false;
    await world.change({ spec: { kubernetes: audit('Request') } });
    await world.settle();
    const after = await mounted(world);
    expect(after).not.toBe(before);
    expect([...(await secrets(world)).keys()].sort()).toEqual([before, after].sort());
    await world.startPods();
    await world.settle();
    expect([...(await secrets(world)).keys()]).toEqual([after]);
  });

  test('leave with the last field, once no pod has them', async () => {
    const world = new TenantWorld();
    await world.create({ kubernetes: audit('Metadata') });
    await world.settle();
    await world.change({ spec: { kubernetes: { audit: null } } });
    await world.settle();
    expect(await mounted(world)).toBeUndefined();
    expect((await secrets(world)).size).toBe(0);
    expect(await world.condition('Ready')).toBe('True');
  });

  test('wait for the credentials of webhooks, and leave running pods alone', async () => {
    const world = new TenantWorld();
    await world.create();
    await world.settle();
    const template = JSON.stringify((await world.deployment())?.spec?.template);
    await world.change({ spec: { kubernetes: { authorization: configuredKubernetes.authorization } } });
    await world.settle();
    expect(await world.condition('ControlPlaneAvailable')).toBe(
      'False WebhookSecretUnusable: Secret guard-credentials does not exist; running pods are left alone',
    );
    expect(JSON.stringify((await world.deployment())?.spec?.template)).toBe(template);
    await seed(world, 'guard-credentials', { token: 'first' });
    await world.settle();
    expect(await world.condition('Ready')).toBe('True');
  });

  test('follow the credentials of webhooks with new pods', async () => {
    const world = new TenantWorld();
    await credentials(world);
    await world.create({ kubernetes: configuredKubernetes });
    await world.settle();
    const before = await mounted(world);
    const data = { token: Buffer.from('second').toString('base64') };
    const key = { namespace: 'default', name: 'guard-credentials' };
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body: { data } });
    await world.settle();
    const after = await mounted(world);
    expect(after).not.toBe(before);
    const file = (await secrets(world)).get(after ?? '')?.['authorization-guard.kubeconfig'] ?? '';
    expect(Buffer.from(file, 'base64').toString()).toContain('token: second');
  });

  test('are not made of what admission would have refused', async () => {
    const world = new TenantWorld();
    const [first] = configuredKubernetes.authentication.jwt;
    await world.create({ kubernetes: { authentication: { jwt: [first, first] } } });
    await world.settle();
    expect(await world.condition('ControlPlaneAvailable')).toMatch(
      /^False ConfigurationRefused: spec\.kubernetes\.authentication\.jwt\[1\]\.issuer\.url .*; running pods are left alone$/,
    );
    expect(await world.deployment()).toBeUndefined();
  });

  test('come back when their Secret is deleted', async () => {
    const world = new TenantWorld();
    await world.create({ kubernetes: audit('Metadata') });
    await world.settle();
    const name = (await mounted(world)) ?? '';
    const before = (await secrets(world)).get(name);
    await world.cluster.admin.delete(kinds.Secret, { namespace: 'default', name });
    await world.settle();
    expect((await secrets(world)).get(name)).toEqual(before);
  });
});

describe('A Secret with credentials for a webhook', () => {
  const readers = new SecretReaders(new ObjectMemory());
  const tcp = tenantControlPlaneWith({ kubernetes: configuredKubernetes });
  const keysOf = (namespace: string, name: string): readonly unknown[] => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, uid: 'u', resourceVersion: '1' } };
    return webhookSecretWatch(readers).keys(undefined, secret);
  };

  test('enqueues the control planes of its namespace that name it', () => {
    readers.learn(tcp);
    const key = { namespace: 'default', name: 'tenant' };
    expect(keysOf('default', 'guard-credentials')).toEqual([key]);
    expect(keysOf('default', 'audit-credentials')).toEqual([key]);
    expect(keysOf('default', 'other')).toEqual([]);
    expect(keysOf('elsewhere', 'guard-credentials')).toEqual([]);
  });

  test('enqueues none when the spec no longer names it', () => {
    readers.learn(tcp);
    readers.learn(tenantControlPlaneWith());
    expect(keysOf('default', 'guard-credentials')).toEqual([]);
  });
});

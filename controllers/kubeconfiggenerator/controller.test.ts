import { X509Certificate } from 'node:crypto';
import { ObjectMemory } from '../../runtime/cache/object-memory.ts';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { Draft } from '../../api/meta.ts';
import { kubeconfigGenerator } from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import type {
  KubeconfigGenerator,
  KubeconfigGeneratorSpecInput,
} from '../../api/steward/v1alpha1/kubeconfig-generator.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kubeconfig, parseKubeconfig } from '../../kubeadm/kubeconfig.ts';
import { issueCa } from '../../kubeadm/pki/issue.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import { caValidityMs, lifetimeFrom } from '../../kubeadm/pki/lifetime.ts';
import { authorityProfiles } from '../../kubeadm/pki/profiles.ts';
import type { Controller, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { FakeCluster } from '../../testing/fake/fake-cluster.ts';
import { tenantControlPlaneWith } from '../../testing/builders/tenant-control-plane.ts';
import { access } from './access.ts';
import { kubeconfigGeneratorController } from './controller.ts';

const day = 24 * 60 * 60 * 1000;
const start = new Date('2026-01-01T00:00:00Z');
let ca: KeyPair;
let another: KeyPair;

beforeAll(async () => {
  const options = { algorithm: 'ECDSA-P256', lifetime: lifetimeFrom(start, caValidityMs) } as const;
  [ca, another] = await Promise.all([issueCa(authorityProfiles.ca, options), issueCa(authorityProfiles.ca, options)]);
});

const encoded = (data: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));

class World {
  readonly cluster = new FakeCluster({ access });
  now = start;
  tenants: readonly TenantControlPlane[] = [];
  #controller = this.#newController();

  #newController(): Controller<KubeconfigGenerator> {
    return kubeconfigGeneratorController({
      memory: new ObjectMemory(),
      cluster: this.cluster,
      tenants: () => this.tenants,
      generators: () => [],
      renewBeforeMs: day,
    });
  }

  restart(): void {
    this.#controller = this.#newController();
  }

  async tenant(name: string, labels: Record<string, string> = {}, namespace = 'team'): Promise<void> {
    const { kind, apiVersion, spec } = tenantControlPlaneWith();
    const seed = { kind, apiVersion, spec, metadata: { name, namespace, labels } } as Draft;
    this.tenants = [...this.tenants, await this.cluster.seed(tenantControlPlane, seed)];
    await this.secret(namespace, `${name}-ca`, { 'ca.crt': ca.certificate, 'ca.key': ca.key });
    await this.admin(name, namespace);
  }

  async admin(name: string, namespace = 'team', authority = ca, server = `https://${name}.${namespace}.svc:6443`) {
    const content = {
      clusterName: name,
      server,
      ca: authority.certificate,
      user: 'kubernetes-admin',
      client: authority,
    };
    await this.secret(namespace, `${name}-admin-kubeconfig`, { 'admin.svc': kubeconfig(content) });
  }

  async secret(namespace: string, name: string, data: Readonly<Record<string, string>>): Promise<void> {
    const metadata = { name, namespace };
    await this.cluster.seed(kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: encoded(data),
    });
  }

  async generator(name: string, spec: Partial<KubeconfigGeneratorSpecInput> = {}): Promise<KubeconfigGenerator> {
    return this.cluster.seed(kubeconfigGenerator, {
      apiVersion: 'steward.butlerlabs.dev/v1alpha1',
      kind: 'KubeconfigGenerator',
      metadata: { name },
      spec: { user: { stringValue: 'ada' }, ...spec },
    });
  }

  reconcile(generator: KubeconfigGenerator): Promise<ReconcileResult<KubeconfigGenerator>> {
    const ctx = { signal: new AbortController().signal, now: this.now, log: silent, event: () => undefined };
    return this.#controller.reconcile(generator, ctx);
  }

  async finalize(generator: KubeconfigGenerator): Promise<void> {
    const ctx = { signal: new AbortController().signal, now: this.now, log: silent, event: () => undefined };
    await this.#controller.finalize?.(generator, ctx);
  }

  made(name: string, namespace = 'team'): Promise<Secret | undefined> {
    return this.cluster.admin.get(kinds.Secret, { namespace, name });
  }

  async config(name: string): Promise<ReturnType<typeof parseKubeconfig>> {
    const secret = await this.made(name);
    return parseKubeconfig(Buffer.from(secret?.data?.value ?? '', 'base64').toString());
  }
}

const subject = (certificate: string): string => new X509Certificate(certificate).subject;

describe('A KubeconfigGenerator', () => {
  test('creates a kubeconfig with the configured user and groups for each selected tenant', async () => {
    const world = new World();
    await world.tenant('blue', { tier: 'gold' });
    await world.tenant('red', { tier: 'gold' });
    await world.tenant('gray');
    const generator = await world.generator('users', {
      tenantControlPlaneSelector: { matchLabels: { tier: 'gold' } },
      user: { fromDefinition: 'metadata.name' },
      groups: [{ stringValue: 'b' }, { stringValue: 'a' }, { stringValue: 'a' }],
    });
    const { status } = await world.reconcile(generator);
    expect(status).toMatchObject({ resources: 2, availableResources: 2, errors: [] });
    const found = await world.config('blue-users');
    expect(found).toMatchObject({
      server: 'https://blue.team.svc:6443',
      ca: ca.certificate,
      user: 'users',
      clusterName: 'blue',
    });
    expect(subject(found.client.certificate)).toBe('O=a\nO=b\nCN=blue');
    expect(new X509Certificate(found.client.certificate).verify(new X509Certificate(ca.certificate).publicKey)).toBe(
      true,
    );
    expect((await world.made('blue-users'))?.metadata).toMatchObject({
      labels: {
        'steward.butlerlabs.dev/managed-by': 'users',
        'steward.butlerlabs.dev/managed-for': 'blue',
        'steward.butlerlabs.dev/certificate_lifecycle_controller': 'kubeconfig',
      },
      ownerReferences: [{ kind: 'TenantControlPlane', name: 'blue' }],
    });
    expect(await world.made('gray-users')).toBeUndefined();
  });

  test('selects by namespace too', async () => {
    const world = new World();
    for (const [name, stage] of [
      ['one', 'prod'],
      ['two', 'dev'],
    ] as const) {
      await world.cluster.seed(kinds.Namespace, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name, labels: { stage } },
      });
      await world.tenant('blue', {}, name);
    }
    await world.reconcile(await world.generator('users', { namespaceSelector: { matchLabels: { stage: 'prod' } } }));
    expect(await world.made('blue-users', 'one')).toBeDefined();
    expect(await world.made('blue-users', 'two')).toBeUndefined();
  });

  test('writes nothing and reads no Secret while nothing changes, also after a restart of the manager', async () => {
    const world = new World();
    await world.tenant('blue');
    const generator = await world.generator('users');
    await world.reconcile(generator);
    const { length } = world.cluster.calls;
    await world.reconcile(generator);
    expect(world.cluster.calls.slice(length).map(({ verb }) => verb)).toEqual(['list']);
    world.restart();
    const after = world.cluster.calls.length;
    await world.reconcile(generator);
    expect(world.cluster.calls.slice(after).filter(({ verb }) => verb !== 'list' && verb !== 'get')).toEqual([]);
  });

  test('creates a new one when the server or the CA changes, and waits until both are consistent', async () => {
    const world = new World();
    await world.tenant('blue');
    const generator = await world.generator('users');
    await world.reconcile(generator);
    await world.secret('team', 'blue-ca', { 'ca.crt': another.certificate, 'ca.key': another.key });
    world.restart();
    const { status } = await world.reconcile(generator);
    expect(status?.errors).toEqual([
      { resource: 'team/blue', message: expect.stringContaining('does not contain the current CA') },
    ]);
    expect((await world.config('blue-users')).ca).toBe(ca.certificate);
    await world.admin('blue', 'team', another, 'https://192.0.2.1:6443');
    await world.reconcile(generator);
    expect(await world.config('blue-users')).toMatchObject({
      ca: another.certificate,
      server: 'https://192.0.2.1:6443',
    });
  });

  test('trusts all CAs during a rotation, uses the signing one, and is updated with it', async () => {
    const world = new World();
    await world.tenant('blue');
    const generator = await world.generator('users');
    const [both, server] = [`${another.certificate}${ca.certificate}`, 'https://blue.team.svc:6443'];
    const rotating = { 'ca.crt': another.certificate, 'ca.key': another.key, 'ca-bundle.crt': both };
    await world.secret('team', 'blue-ca', rotating);
    await world.admin('blue', 'team', { certificate: both, key: ca.key }, server);
    await world.reconcile(generator);
    const prepared = await world.config('blue-users');
    expect(prepared.ca).toBe(both);
    const { publicKey } = new X509Certificate(another.certificate);
    expect(new X509Certificate(prepared.client.certificate).verify(publicKey)).toBe(true);
    await world.secret('team', 'blue-ca', { ...rotating, 'ca-bundle.crt': another.certificate });
    await world.admin('blue', 'team', another, server);
    world.restart();
    await world.reconcile(generator);
    expect((await world.config('blue-users')).ca).toBe(another.certificate);
  });

  test('renews a kubeconfig before it expires, on request, and after it was changed', async () => {
    const world = new World();
    await world.tenant('blue');
    const generator = await world.generator('users');
    const { afterMs = 0 } = await world.reconcile(generator);
    expect(Math.round(afterMs / day)).toBe(364);
    const serial = async (): Promise<string> =>
      new X509Certificate((await world.config('blue-users')).client.certificate).serialNumber;
    const seen = [await serial()];
    const change = (body: unknown): Promise<unknown> =>
      world.cluster.admin.patch(kinds.Secret, { namespace: 'team', name: 'blue-users' }, { type: 'merge', body });

    await change({ metadata: { annotations: { 'certs.steward.butlerlabs.dev/rotate': '' } } });
    await world.reconcile(generator);
    seen.push(await serial());
    expect((await world.made('blue-users'))?.metadata.annotations?.['certs.steward.butlerlabs.dev/rotate']).toBe(
      '2026-01-01T00:00:00Z',
    );

    await change({ data: { value: Buffer.from('nonsense').toString('base64') } });
    await world.reconcile(generator);
    seen.push(await serial());

    world.now = new Date(start.getTime() + 364.5 * day);
    await world.reconcile(generator);
    seen.push(await serial());
    expect(new Set(seen).size).toBe(4);
  });

  test('deletes kubeconfigs of tenants that are no longer selected, and all of them when it is deleted', async () => {
    const world = new World();
    await world.tenant('blue');
    await world.tenant('red');
    const generator = await world.generator('users');
    await world.reconcile(generator);
    world.tenants = world.tenants.filter(({ metadata }) => metadata.name === 'red');
    await world.reconcile(generator);
    expect(await world.made('blue-users')).toBeUndefined();
    expect(await world.made('red-users')).toBeDefined();
    await world.finalize(generator);
    expect(await world.made('red-users')).toBeUndefined();
    expect(await world.made('red-ca')).toBeDefined();
  });

  test('deletes no Secret that only has its labels, such as a copy of one of its own', async () => {
    const world = new World();
    await world.tenant('blue');
    const generator = await world.generator('users');
    await world.reconcile(generator);
    const made = await world.made('blue-users');
    const copy = { name: 'precious', namespace: 'team', labels: made?.metadata.labels ?? {} };
    const data = { precious: 'eA==' };
    await world.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata: copy, data });
    world.tenants = [];
    await world.reconcile(generator);
    await world.finalize(generator);
    expect(await world.made('blue-users')).toBeUndefined();
    expect(await world.made('precious')).toMatchObject({ data });
  });

  test('takes user and groups from a literal value or from a field', async () => {
    const world = new World();
    await world.tenant('blue');
    const byWord = await world.generator('words', { user: { stringValue: 'ada' }, groups: [{ stringValue: 'a' }] });
    await world.reconcile(byWord);
    expect(subject((await world.config('blue-words')).client.certificate)).toBe('O=a\nCN=ada');
    const byField = await world.generator('fields', {
      user: { fromDefinition: 'metadata.name' },
      groups: [{ fromDefinition: 'metadata.namespace' }],
    });
    await world.reconcile(byField);
    expect(subject((await world.config('blue-fields')).client.certificate)).toBe('O=team\nCN=blue');
  });

  test('uses the server of the admin kubeconfig at the key that controlPlaneEndpointFrom names', async () => {
    const world = new World();
    await world.tenant('blue');
    const content = { clusterName: 'blue', ca: ca.certificate, user: 'kubernetes-admin', client: ca };
    await world.secret('team', 'blue-admin-kubeconfig', {
      'admin.svc': kubeconfig({ ...content, server: 'https://inside:6443' }),
      'admin.conf': kubeconfig({ ...content, server: 'https://outside:443' }),
    });
    await world.reconcile(await world.generator('in'));
    await world.reconcile(await world.generator('out', { controlPlaneEndpointFrom: 'admin.conf' }));
    expect((await world.config('blue-in')).server).toBe('https://inside:6443');
    expect((await world.config('blue-out')).server).toBe('https://outside:443');
  });

  test('never overwrites a Secret of another owner', async () => {
    const world = new World();
    await world.tenant('blue');
    await world.tenant('blue-a');
    const before = await world.made('blue-ca');
    const { status } = await world.reconcile(await world.generator('ca', { tenantControlPlaneSelector: {} }));
    expect(status?.errors?.[0]?.message).toMatch(/Secret blue-ca already exists and does not belong to this generator/);
    expect(await world.made('blue-ca')).toEqual(before);
    await world.reconcile(await world.generator('a-b'));
    const { status: second } = await world.reconcile(await world.generator('b'));
    expect(second?.errors).toEqual([{ resource: 'team/blue-a', message: expect.stringContaining('blue-a-b') }]);
  });

  test.each([
    ['there is no admin kubeconfig', {}, 'the admin kubeconfig is not yet generated', true],
    [
      'it names a key that is not there',
      { controlPlaneEndpointFrom: 'other' },
      'set spec.controlPlaneEndpointFrom to one of admin.svc',
      false,
    ],
    ['its user is nowhere', { user: { fromDefinition: 'a.b' } }, 'provided dot notation "a.b" is not found', false],
  ])(
    'reports for which tenant it has no kubeconfig when %s, and continues with the others',
    async (_what, spec, message, isLost) => {
      const world = new World();
      await world.tenant('blue');
      if (isLost) await world.cluster.admin.delete(kinds.Secret, { namespace: 'team', name: 'blue-admin-kubeconfig' });
      const { status, error } = await world.reconcile(await world.generator('users', spec));
      expect(status?.errors).toEqual([{ resource: 'team/blue', message: expect.stringContaining(message) }]);
      expect(status?.conditions).toMatchObject([
        { type: 'Ready', status: 'False', reason: 'NotReady', observedGeneration: 1 },
      ]);
      expect(error).toBeUndefined();
      expect(JSON.stringify(status)).not.toContain('PRIVATE KEY');
    },
  );
});

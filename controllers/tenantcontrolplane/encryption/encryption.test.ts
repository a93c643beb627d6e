import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Encryption } from '../../../api/embedded/encryption.ts';
import { componentChecksumLabel } from '../../../api/names.ts';
import type { EncryptionStatus } from '../../../api/steward/v1alpha1/encryption-status.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import { strippedSpec } from '../../../testing/builders/stripped-field.ts';
import type { TenantControlPlaneChanges } from '../../../testing/builders/tenant-control-plane.ts';
import { podFlag, secretValues } from '../../../testing/worlds/rotating-tenant.ts';
import { settledWorlds } from '../../../testing/worlds/settled-worlds.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const generated: Encryption = { resources: ['secrets'], provider: 'secretbox' };
const ownKey = (key: string): Encryption => ({
  resources: ['secrets'],
  provider: 'aescbc',
  keySecret: { name: 'keys', key },
});
const keyText = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

const plain = settledWorlds(
  () => new TenantWorld(),
  async (world) => {
    await world.create();
    await world.settle();
  },
);

async function encrypted(
  encryption: Encryption,
  changes: TenantControlPlaneChanges = {},
  world = new TenantWorld(),
): Promise<TenantWorld> {
  await world.create({ ...changes, kubernetes: { encryption } });
  await world.settle();
  return world;
}

const want = (world: TenantWorld, encryption: Encryption | null): Promise<void> =>
  world.change({ spec: strippedSpec({ kubernetes: { encryption } }) });

async function statusOf(world: TenantWorld): Promise<EncryptionStatus | undefined> {
  return (await world.read()).status?.encryption;
}

interface Configuration {
  readonly resources: readonly {
    readonly resources: readonly string[];
    readonly providers: readonly Readonly<Record<string, { readonly keys?: readonly { readonly name: string }[] }>>[];
  }[];
}

/** The providers of each resource in a configuration, as `secrets: secretbox/a, identity`. */
function textOf(content: string): string {
  const { resources } = JSON.parse(content) as Configuration;
  return resources
    .map(({ resources: of, providers }) => {
      const list = providers.flatMap((provider) =>
        Object.entries(provider).map(([kind, { keys }]) => (keys === undefined ? kind : `${kind}/${keys[0]?.name}`)),
      );
      return `${of.join()}: ${list.join(', ')}`;
    })
    .join('; ');
}

/** What the pods of the Deployment read; undefined when nothing is encrypted. */
async function configurationOf(world: TenantWorld): Promise<string | undefined> {
  const { volumes = [] } = (await world.deployment())?.spec?.template.spec ?? {};
  const [source] = volumes.find(({ name }) => name === 'steward-encryption')?.projected?.sources ?? [];
  const [item] = source?.secret?.items ?? [];
  if (item === undefined) return undefined;
  return textOf((await secretValues(world, 'encryption'))[item.key] ?? '');
}

/** Every configuration that pods had while `work` ran. */
async function configurationsDuring(world: TenantWorld, work: () => Promise<unknown>): Promise<readonly string[]> {
  const seen: string[] = [];
  const forget = world.cluster.after(async ({ kind, verb, dryRun }) => {
    if (kind?.kind !== 'Deployment' || verb !== 'apply' || dryRun === true) return;
    const now = (await configurationOf(world)) ?? 'none';
    if (seen.at(-1) !== now) seen.push(now);
  });
  await work();
  forget();
  return seen;
}

async function seedSecrets(world: TenantWorld, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const metadata = { namespace: 'default', name: `secret-${String(index).padStart(4, '0')}` };
    await world.tenant.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
  }
}

/** The Secrets of the tenant that were written again, each once. */
function writtenAgain(world: TenantWorld): readonly string[] {
  const patches = world.tenant.calls.filter(({ verb, kind }) => verb === 'patch' && kind?.kind === 'Secret');
  return [...new Set(patches.map(({ name }) => name ?? ''))].sort();
}

describe('A tenant that is created with encryption', () => {
  test('has its pods start with a generated key alone, in one step', async () => {
    const world = new TenantWorld();
    const seen = await configurationsDuring(world, async () => {
      await world.create({ kubernetes: { encryption: generated } });
      await world.settle();
    });
    expect(seen).toEqual(['secrets: secretbox/generated-1']);
    expect(await podFlag(world, 'kube-apiserver', 'encryption-provider-config')).toBe(
      '/etc/kubernetes/encryption/configuration.json',
    );
    expect(
      Buffer.from((await secretValues(world, 'encryption'))['secretbox.generated-1'] ?? '', 'base64'),
    ).toHaveLength(32);
    expect(await statusOf(world)).toEqual({
      revision: 1,
      step: 'Done',
      resources: [{ resource: 'secrets', writes: 'secretbox/generated-1' }],
      distributed: true,
    });
    expect(await world.condition('DataEncrypted')).toBe('True');
    expect(await world.condition('Ready')).toBe('True');
    expect(writtenAgain(world)).toEqual([]);
  });

  test('waits for its own key before any pod starts, and never has data in plain text', async () => {
    const world = new TenantWorld();
    await world.create({ kubernetes: { encryption: ownKey('first') } });
    await world.settle();
    const message =
      'spec.kubernetes.encryption.keySecret names Secret keys, which does not exist: create it with 32 random bytes in base64 under first';
    expect(await world.condition('ControlPlaneAvailable')).toBe(`False EncryptionKeyNotFound: ${message}`);
    expect(await world.condition('DataEncrypted')).toBe(`False EncryptionKeyNotFound: ${message}`);
    expect(await world.deployment()).toBeUndefined();
    await seedKeys(world, { first: keyText(1) });
    const seen = await configurationsDuring(world, () => world.settle());
    expect(seen).toEqual(['secrets: aescbc/first']);
    expect(await world.condition('Ready')).toBe('True');
  });

  test.each([
    ['has another length', Buffer.alloc(16, 1).toString('base64'), 'holds 16 bytes instead of 32'],
    ['is not base64', 'no key at all!', 'is not base64'],
  ])('refuses a key that %s without showing it', async (_, key, why) => {
    const world = new TenantWorld();
    await world.create({ kubernetes: { encryption: ownKey('first') } });
    await seedKeys(world, { first: key });
    await world.settle();
    const found = await world.condition('DataEncrypted');
    expect(found).toContain(`False EncryptionKeyUnusable: the key first in Secret keys of`);
    expect(found).toContain(why);
    expect(JSON.stringify(await world.read())).not.toContain(key);
    expect(await world.deployment()).toBeUndefined();
  });

  test('encrypts the chosen resources', async () => {
    const world = await encrypted({ resources: ['secrets', 'configmaps', 'widgets.example.com'], provider: 'aesgcm' });
    expect(await configurationOf(world)).toBe(
      ['configmaps', 'secrets', 'widgets.example.com'].map((one) => `${one}: aesgcm/generated-1`).join('; '),
    );
    expect(await world.condition('DataEncrypted')).toBe('True');
  });
});

async function seedKeys(world: TenantWorld, keys: Readonly<Record<string, string>>): Promise<void> {
  const data = Object.fromEntries(
    Object.entries(keys).map(([name, key]) => [name, Buffer.from(key).toString('base64')]),
  );
  await world.cluster.seed(kinds.Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'default', name: 'keys' },
    data,
  });
}

describe('A running tenant', () => {
  test('is encrypted: read, write, rewrite everything, and plain text goes last', async () => {
    const world = await plain();
    await seedSecrets(world, 250);
    const seen = await configurationsDuring(world, async () => {
      await want(world, generated);
      await world.settle();
    });
    expect(seen).toEqual([
      'secrets: identity, secretbox/generated-1',
      'secrets: secretbox/generated-1, identity',
      'secrets: secretbox/generated-1',
    ]);
    expect(writtenAgain(world)).toHaveLength(250);
    expect(await statusOf(world)).toMatchObject({ step: 'Done', revision: 3 });
    expect(world.events.filter((event) => event.startsWith('DataRewritten'))).toHaveLength(1);
    expect(await world.condition('DataEncrypted')).toBe('True');
  });

  test('gets a new generated key, and the old one is gone afterwards', async () => {
    const world = await encrypted(generated);
    await seedSecrets(world, 3);
    const old = (await secretValues(world, 'encryption'))['secretbox.generated-1'] ?? '';
    const seen = await configurationsDuring(world, async () => {
      await want(world, { ...generated, keyGeneration: 2 });
      await world.settle();
    });
    expect(seen).toEqual([
      'secrets: secretbox/generated-1, secretbox/generated-2',
      'secrets: secretbox/generated-2, secretbox/generated-1',
      'secrets: secretbox/generated-2',
    ]);
    expect(writtenAgain(world)).toHaveLength(3);
    const values = await secretValues(world, 'encryption');
    expect(Object.values(values).join()).not.toContain(old);
    expect(JSON.stringify(await world.read())).not.toContain(values['secretbox.generated-2']);
  });

  test('no longer encrypts: everything is rewritten in plain text, and flag and keys are gone', async () => {
    const world = await encrypted(generated);
    await seedSecrets(world, 3);
    const seen = await configurationsDuring(world, async () => {
      await want(world, null);
      await world.settle();
    });
    expect(seen).toEqual([
      'secrets: secretbox/generated-1, identity',
      'secrets: identity, secretbox/generated-1',
      'none',
    ]);
    expect(writtenAgain(world)).toHaveLength(3);
    expect(Object.keys(await secretValues(world, 'encryption'))).toEqual(['state.json']);
    expect(await world.condition('DataEncrypted')).toBe('False NotRequested: ');
    expect(await world.condition('Ready')).toBe('True');
    const labels = (await world.deployment())?.spec?.template.metadata?.labels ?? {};
    expect(labels).not.toHaveProperty([componentChecksumLabel('encryption')]);
  });

  test('without the key in its spec stays in plain text, and requests no immediate reconcile', async () => {
    const world = await plain();
    await want(world, ownKey('first'));
    expect((await world.settle()).afterMs).toBeGreaterThan(1000);
    expect(await world.condition('DataEncrypted')).toContain('False EncryptionKeyNotFound');
    expect(await configurationOf(world)).toBeUndefined();
    expect(await world.condition('Ready')).toBe('True');
  });

  test('keeps what it has while a new key is missing, and reports that', async () => {
    const world = new TenantWorld();
    await seedKeys(world, { first: keyText(1) });
    await world.create({ kubernetes: { encryption: ownKey('first') } });
    await world.settle();
    await want(world, ownKey('second'));
    await world.settle();
    expect(await configurationOf(world)).toBe('secrets: aescbc/first');
    expect((await world.read()).status?.conditions?.find(({ type }) => type === 'DataEncrypted')).toMatchObject({
      status: 'True',
      reason: 'EncryptionKeyNotFound',
      message: 'Secret keys of spec.kubernetes.encryption.keySecret has no key second: add it',
    });
    expect(await world.condition('Ready')).toBe('True');
    await seedKeys(world, { first: keyText(1), second: keyText(2) });
    await world.settle();
    expect(await configurationOf(world)).toBe('secrets: aescbc/second');
  });

  test('does not depend on the Secret of its author, and does not take another value under the same name', async () => {
    const world = new TenantWorld();
    await seedKeys(world, { first: keyText(1) });
    await world.create({ kubernetes: { encryption: ownKey('first') } });
    await world.settle();
    const before = await secretValues(world, 'encryption');
    await seedKeys(world, { first: keyText(3) });
    await world.settle();
    const condition = (await world.read()).status?.conditions?.find(({ type }) => type === 'DataEncrypted');
    expect(condition).toMatchObject({ status: 'True', reason: 'EncryptionKeyUnusable' });
    expect(condition?.message).toContain('give a new key a new name');
    await world.cluster.admin.delete(kinds.Secret, { namespace: 'default', name: 'keys' });
    await world.settle();
    expect(await secretValues(world, 'encryption')).toEqual(before);
    expect(await world.condition('DataEncrypted')).toBe('True');
  });

  test('whose keys are lost gets no others, and its pods are left alone', async () => {
    const world = await encrypted(generated);
    const before = await world.deployment();
    await world.cluster.admin.delete(kinds.Secret, { namespace: 'default', name: 'tenant-encryption' });
    await world.settle();
    const lost = (await world.read()).status?.conditions?.find(({ type }) => type === 'DataEncrypted');
    expect(lost).toMatchObject({ reason: 'EncryptionKeysLost' });
    expect(lost?.message).toContain('restore it from a backup');
    expect(await world.condition('ControlPlaneAvailable')).toContain('False EncryptionKeysLost');
    expect(await world.secret('encryption')).toBeUndefined();
    expect((await world.deployment())?.metadata.generation).toBe(before?.metadata.generation);
  });

  test('that sleeps changes nothing until it wakes', async () => {
    const world = await encrypted(generated);
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await world.settle();
    await want(world, { ...generated, keyGeneration: 2 });
    await world.settle();
    expect(await configurationOf(world)).toBe('secrets: secretbox/generated-1, secretbox/generated-2');
    expect(await statusOf(world)).toMatchObject({ step: 'Adding' });
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await world.settle();
    expect(await configurationOf(world)).toBe('secrets: secretbox/generated-2');
  });

  test('whose data is being migrated keeps what it has until afterwards', async () => {
    const image = (): Promise<string> => Promise.resolve('example.com/steward:v1');
    const migrations = { namespace: 'steward-system', serviceAccount: 'steward-migration', image, minimumHoldMs: 0 };
    const world = await encrypted(generated, {}, new TenantWorld({ migrations }));
    const share = (dataStoreName: string) => ({ dataStoreName, schema: 'a', user: 'a' });
    const migration = {
      phase: 'Copying',
      source: share('default'),
      target: share('other'),
      startedAt: '2030-01-01T00:00:00Z',
    };
    const { status } = await world.read();
    const key = { namespace: 'default', name: 'tenant' };
    const migrating = async (now: object | null): Promise<void> => {
      const body = { status: { storage: { ...status?.storage, migration: now } } };
      await world.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    };
    await migrating(migration);
    await want(world, { ...generated, keyGeneration: 2 });
    await world.change({ spec: { dataStore: 'other' } });
    await world.reconcile();
    expect(await configurationOf(world)).toBe('secrets: secretbox/generated-1');
    await migrating(null);
    await world.change({ spec: { dataStore: 'default' } });
    await world.settle();
    expect(await configurationOf(world)).toBe('secrets: secretbox/generated-2');
  });

  test('whose spec changes during a rotation ends with the provider that was set last', async () => {
    const world = await plain();
    await want(world, generated);
    await world.reconcile();
    await want(world, { ...generated, provider: 'aescbc' });
    await world.reconcile();
    await want(world, { ...generated, resources: ['configmaps'] });
    await world.settle();
    expect(await configurationOf(world)).toBe('configmaps: secretbox/generated-1');
    expect(await world.condition('DataEncrypted')).toBe('True');
  });

  test('without encryption has no condition, no status and no Secret for it', async () => {
    const world = await plain();
    expect(await world.condition('DataEncrypted')).toBe('absent');
    expect(await statusOf(world)).toBeUndefined();
    expect(await world.secret('encryption')).toBeUndefined();
  });
});

describe('Objects that are written again', () => {
  const ofSecrets = { verb: 'patch', kind: 'Secret' } as const;

  async function rewriting(): Promise<TenantWorld> {
    const world = await plain();
    await seedSecrets(world, 250);
    await want(world, generated);
    for (let rounds = 0; rounds < 20 && (await statusOf(world))?.rewriting === undefined; rounds += 1)
      await world.reconcile();
    return world;
  }

  test('are read by pages without their content, and the next page is in the status', async () => {
    const world = await rewriting();
    const status = await statusOf(world);
    expect(status).toMatchObject({ step: 'Rewriting', rewriting: { resource: 'secrets', objects: 100 } });
    expect(status?.rewriting?.continue).toBeDefined();
    expect(await world.condition('DataEncrypted')).toBe(
      'False Rewriting: objects are being rewritten: 100 so far, now secrets',
    );
    expect(writtenAgain(world)).toHaveLength(100);
    world.restart();
    await world.settle();
    expect(writtenAgain(world)).toHaveLength(250);
  });

  test('continue from the token that the server returns when a page has expired', async () => {
    const world = await rewriting();
    const expired = new ApiError(410, 'Expired', 'too old', { next: 'default/secret-0149' });
    world.tenant.failNext({ verb: 'list', kind: 'Secret' }, expired);
    await world.settle();
    expect(await statusOf(world)).toMatchObject({ step: 'Done' });
    expect(writtenAgain(world)).toHaveLength(200);
  });

  test('begin again when the server returns no token', async () => {
    const world = await rewriting();
    world.tenant.failNext({ verb: 'list', kind: 'Secret' }, new ApiError(410, 'Expired', 'too old'));
    await world.settle();
    expect(writtenAgain(world)).toHaveLength(250);
    expect(await statusOf(world)).toMatchObject({ step: 'Done' });
  });

  test('that cannot be written keep the old key, and the condition names one', async () => {
    const world = await rewriting();
    const refusal = new ApiError(403, 'Forbidden', 'admission webhook "x" denied the request');
    world.tenant.failNext({ ...ofSecrets, name: 'secret-0120' }, refusal, 3);
    await world.settle();
    expect(await world.condition('DataEncrypted')).toContain(
      'secrets default/secret-0120 cannot be written: admission webhook "x" denied the request',
    );
    expect(await configurationOf(world)).toBe('secrets: secretbox/generated-1, identity');
    for (let rounds = 0; rounds < 5; rounds += 1) await world.settle();
    expect(await statusOf(world)).toMatchObject({ step: 'Done' });
  });

  test('that others change at the same time are tried again', async () => {
    const world = await rewriting();
    world.tenant.failNext({ ...ofSecrets, name: 'secret-0120' }, new ApiError(409, 'Conflict', 'changed'), 2);
    await world.reconcile();
    expect(await statusOf(world)).toMatchObject({ rewriting: { objects: 200 } });
  });

  test('that were deleted in the meantime are left out', async () => {
    const world = await rewriting();
    world.tenant.failNext({ ...ofSecrets, name: 'secret-0120' }, new ApiError(404, 'NotFound', 'not found'));
    await world.settle();
    expect(await statusOf(world)).toMatchObject({ step: 'Done' });
  });

  test('of a spec that changes meanwhile wait for the new provider', async () => {
    const world = await rewriting();
    await want(world, { ...generated, keyGeneration: 2 });
    await world.settle();
    expect(await configurationOf(world)).toBe('secrets: secretbox/generated-2');
    expect(await statusOf(world)).toMatchObject({ step: 'Done' });
  });
});

describe('A plugin for KMS v2', () => {
  const kms = { name: 'vault', container: 'vault-kms', timeoutSeconds: 5 };
  const plugin = { name: 'vault-kms', image: 'example.com/vault-kms' };
  const withPlugin: Encryption = { resources: ['configmaps', 'secrets'], provider: 'kms', kms };

  test('shares a folder with kube-apiserver, and each resource has it by a name of its own', async () => {
    const world = await encrypted(withPlugin, { deployment: { additionalContainers: [plugin] } });
    const { containers = [], volumes = [] } = (await world.deployment())?.spec?.template.spec ?? {};
    const mount = { name: 'steward-kms-sockets', mountPath: '/run/kms' };
    expect(containers.find(({ name }) => name === 'vault-kms')?.volumeMounts).toEqual([mount]);
    expect(containers.find(({ name }) => name === 'kube-apiserver')?.volumeMounts).toContainEqual(mount);
    expect(volumes).toContainEqual({ name: 'steward-kms-sockets', emptyDir: {} });
    const content = (await secretValues(world, 'encryption'))['configuration-1.json'] ?? '';
    expect((JSON.parse(content) as Configuration).resources.map(({ providers }) => providers)).toEqual(
      ['configmaps', 'secrets'].map((one) => [
        { kms: { apiVersion: 'v2', name: `vault-${one}`, endpoint: 'unix:///run/kms/vault.sock', timeout: '5s' } },
      ]),
    );
    expect(await statusOf(world)).toMatchObject({ step: 'Done', kmsContainers: ['vault-kms'] });
  });

  test('as a sidecar has the folder, too', async () => {
    const sidecar = { ...plugin, restartPolicy: 'Always' };
    const world = await encrypted(withPlugin, { deployment: { additionalInitContainers: [sidecar] } });
    const { initContainers = [] } = (await world.deployment())?.spec?.template.spec ?? {};
    expect(initContainers[0]?.volumeMounts).toEqual([{ name: 'steward-kms-sockets', mountPath: '/run/kms' }]);
  });

  test('with another key generation gets new pods, which request its key, and has everything written again', async () => {
    const world = await encrypted(withPlugin, { deployment: { additionalContainers: [plugin] } });
    await seedSecrets(world, 3);
    const label = componentChecksumLabel('encryption');
    const before = (await world.deployment())?.spec?.template.metadata?.labels?.[label];
    await want(world, { ...withPlugin, keyGeneration: 2 });
    await world.settle();
    expect((await world.deployment())?.spec?.template.metadata?.labels?.[label]).not.toBe(before);
    expect(writtenAgain(world)).toHaveLength(3);
    expect(await statusOf(world)).toMatchObject({ step: 'Done' });
  });

  test('that is no longer in the pods leaves them alone while data depends on it', async () => {
    const world = await encrypted(withPlugin, { deployment: { additionalContainers: [plugin] } });
    const before = await world.deployment();
    await world.change({ spec: { controlPlane: { deployment: { additionalContainers: [] } } } });
    await world.settle();
    expect(await world.condition('ControlPlaneAvailable')).toContain('container vault-kms is not among');
    expect((await world.deployment())?.metadata.generation).toBe(before?.metadata.generation);
  });
});

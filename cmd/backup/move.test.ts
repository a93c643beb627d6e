import { beforeEach, describe, expect, test } from '@jest/globals';
import { clusterNameLabel, clusterSecretType } from '../../api/cluster-api/names.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Secret } from '../../api/core/kinds.ts';
import type { OwnerReference } from '../../api/meta.ts';
import { annotations, backupComponents, labels } from '../../api/names.ts';
import { restoreMarkOf } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { RestoredBackup } from '../../stores/backup/restore-backup.ts';
import { BackupWorld } from '../../testing/worlds/backup-world.ts';
import { put } from '../../testing/builders/put.ts';

const roots = ['ca', 'front-proxy-ca-certificate', 'sa-certificate'] as const;
const key = { namespace: 'default', name: 'tenant' };
let world: BackupWorld;
/** The CAs and the service-account key of the control plane that was backed up. */
let lost: readonly unknown[];

const move = (over: object = {}): Promise<RestoredBackup | undefined> =>
  world.restore({ original: 'shop', moves: true, id: 'a', ...over });
const keysNow = async (): Promise<readonly unknown[]> =>
  Promise.all(roots.map(async (name) => (await world.secret(name))?.data));

/** The control plane `shop` was backed up and is lost; a new one, `tenant`, waits for it. */
async function begin(metadata: object = {}): Promise<void> {
  world = await BackupWorld.begin();
  lost = await world.authorities();
  await world.backUp();
  await world.backupsAreOf('shop');
  await world.lose();
  await world.create({
    deployment: { replicas: 0 },
    metadata: { ...key, annotations: { [annotations.awaitsRestore]: 'tenant-restore' }, ...metadata },
  });
}

async function wakeUp(): Promise<void> {
  const deployment = { replicas: 2 };
  await world.change({
    metadata: { annotations: { [annotations.awaitsRestore]: null } },
    spec: { controlPlane: { deployment } },
  });
  await world.settle();
}

type Data = Readonly<Record<string, string | undefined>>;

/** What a user gives as the CA of the Cluster, under the name of the control plane's own Secret. */
interface Supplied {
  readonly type: string;
  readonly data: Data;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly OwnerReference[];
  readonly immutable?: boolean;
}

function supply({ labels: marks, annotations: notes, ownerReferences, ...content }: Supplied): Promise<Secret> {
  const metadata = { ...key, name: 'tenant-ca', labels: marks, annotations: notes, ownerReferences };
  return world.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, ...content });
}

/** A Job restores a control plane, with a pod that takes its time to end. */
async function isRestored(tenant: string): Promise<void> {
  const metadata = {
    namespace: 'steward-system',
    labels: {
      [labels.component]: backupComponents.restore,
      [labels.migrationNamespace]: key.namespace,
      [labels.migrationTenant]: tenant,
    },
  };
  const name = `restore-${tenant}`;
  await world.cluster.seed(kinds.Job, { apiVersion: 'batch/v1', kind: 'Job', metadata: { ...metadata, name } });
  await world.cluster.seed(kinds.Pod, {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: `${name}-pod` } },
    status: { phase: 'Running' },
  });
}

const jobs = async (): Promise<readonly string[]> =>
  (await world.cluster.admin.list(kinds.Job, { namespace: 'steward-system' })).items.map(
    ({ metadata }) => metadata.name,
  );

async function podEnds(tenant: string): Promise<void> {
  const at = { namespace: 'steward-system', name: `restore-${tenant}-pod` };
  const body = { status: { phase: 'Failed' } };
  await world.cluster.admin.patch(kinds.Pod, at, { type: 'merge', body }, { subresource: 'status' });
}

beforeEach(() => begin());

describe('A control plane that waits for its restore', () => {
  test('gets no CA, no key and no pod, however long that takes', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      await world.reconcile();
      await world.clock.advance(60_000);
    }
    expect(await keysNow()).toEqual([undefined, undefined, undefined]);
    expect(await world.deployment()).toBeUndefined();
    expect(await world.condition('CertificatesReady')).toBe(
      'False WaitingForRestore: waiting for TenantRestore tenant-restore to restore the Secrets tenant-ca, tenant-front-proxy-ca-certificate, tenant-sa-certificate',
    );
    expect(await world.condition('ControlPlaneAvailable')).toMatch(/^False WaitingForRestore/);
  });

  test('gets data, CAs and keys of the one that was backed up under its own names, and then runs', async () => {
    await expect(move()).resolves.toMatchObject({ keys: 1 });
    expect(await keysNow()).toEqual(lost);
    expect((await world.data()).texts()).toEqual([['pods/a', 'one']]);
    const tcp = await world.read();
    const upTo = world.reports.at(-1)?.restoredTime;
    expect(restoreMarkOf(tcp)).toEqual({ task: 'a', upTo, identityOf: tcp.metadata.uid });
    expect(world.replicas(await world.read())).toBe(0);
    await wakeUp();
    expect(await world.condition('Ready')).toBe('True');
    expect(await keysNow()).toEqual(lost);
  });

  test('owns what it gets, so that nothing of it outlives the control plane', async () => {
    await move();
    await world.lose();
    expect(await keysNow()).toEqual([undefined, undefined, undefined]);
    expect(world.store.tenancies.size).toBe(0);
  });

  test('gets the keys of encrypted data, too, and generates none before', async () => {
    const data = { 'state.json': Buffer.from('{}').toString('base64') };
    const { folder } = world.parts();
    const [name = ''] = await folder.list('backups/');
    const record = JSON.parse(Buffer.from(await folder.read(name)).toString()) as {
      readonly objects: readonly object[];
    };
    const keys = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shop-encryption' }, type: 'Opaque', data };
    await folder.write(name, Buffer.from(JSON.stringify({ ...record, objects: [...record.objects, keys] })));
    const encryption = { resources: ['secrets'], provider: 'aescbc' };
    await world.change({ spec: { kubernetes: { encryption } } });
    await world.settle();
    expect(await world.secret('encryption')).toBeUndefined();
    await move();
    expect((await world.secret('encryption'))?.data).toEqual(data);
  });

  test.each([
    ['another name than its Cluster', 'prod', 'Opaque'],
    ['the name of its Cluster, where Cluster API reads its CA', 'tenant', clusterSecretType],
  ])('with %s has a CA Secret of the right type', async (_what, cluster, type) => {
    await begin({ labels: { [clusterNameLabel]: cluster } });
    await move();
    expect((await world.secret('ca'))?.type).toBe(type);
    await wakeUp();
    expect(await keysNow()).toEqual(lost);
  });

  test('keeps its data while it is deleted until the process of its restore has ended, which nobody else ends', async () => {
    await world.settle();
    await isRestored('tenant');
    await world.cluster.admin.delete(tenantControlPlane, key);
    for (let turn = 0; turn < 5; turn += 1) {
      await world.reconcile();
      await world.clock.advance(2000);
    }
    expect(await jobs()).toEqual([]);
    expect(await world.condition('Deleting')).toBe('True');
    const deleting = (await world.read()).status?.conditions?.find(({ type }) => type === 'Deleting');
    expect(deleting?.message).toBe(
      'waiting for the process of its restore to end, so that nothing more is written: restore-tenant-pod',
    );
    expect(world.store.tenancies.size).toBe(1);
    await podEnds('tenant');
    await world.reconcile();
    expect(await world.exists()).toBe(false);
    expect(world.store.tenancies.size).toBe(0);
  });

  test('is deleted without regard to the restore of another control plane', async () => {
    await world.settle();
    await isRestored('tenants');
    await world.lose();
    expect(await jobs()).toEqual(['restore-tenants']);
  });

  test('refuses a CA that another user has created there, and says what to do', async () => {
    const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, name: 'tenant-ca' }, data: {} };
    await world.cluster.seed(kinds.Secret, foreign);
    await expect(move()).rejects.toThrow(
      'Secret tenant-ca exists and is not from a restore of default/tenant, which gets the CAs and keys of the backup under this name (its content is not that of the backup): delete it, also if you supplied it as the CA of a Cluster, or give the new control plane another name',
    );
    expect(restoreMarkOf(await world.read())).toBeUndefined();
  });

  test.each([
    [
      'as the pair of Cluster API',
      clusterSecretType,
      ({ 'tls.crt': certificate, 'tls.key': key }: Data) => ({ 'tls.crt': certificate, 'tls.key': key }),
    ],
    ['of type kubernetes.io/tls, under the keys that Steward uses, too', 'kubernetes.io/tls', (data: Data) => data],
  ] as const)('takes the same CA that was supplied for its Cluster, %s', async (_what, type, part) => {
    await begin({ labels: { [clusterNameLabel]: 'tenant' } });
    const [ca] = lost as readonly Data[];
    const supplied = await supply({ type, data: part(ca ?? {}), labels: { [clusterNameLabel]: 'tenant' } });
    await move();
    expect(await keysNow()).toEqual(lost);
    const { metadata, type: now } = (await world.secret('ca')) ?? {};
    expect({ uid: metadata?.uid, type: now }).toEqual({ uid: supplied.metadata.uid, type });
    expect(metadata?.labels).toMatchObject({ [clusterNameLabel]: 'tenant', [labels.name]: 'tenant' });
    expect(metadata?.ownerReferences).toMatchObject([{ uid: (await world.read()).metadata.uid, controller: true }]);
    await wakeUp();
    expect(await world.condition('Ready')).toBe('True');
    expect(await keysNow()).toEqual(lost);
  });

  const other = Buffer.from('other').toString('base64');

  test.each([
    ['has another key', { data: { 'tls.key': other } }, 'its content is not that of the backup'],
    ['has another certificate', { data: { 'tls.crt': other } }, 'its content is not that of the backup'],
    ['has something else besides', { data: { 'ca-next.key': other } }, 'its content is not that of the backup'],
    ['has no key', { data: { 'tls.key': undefined } }, 'its content is not that of the backup'],
    ['is for another Cluster', { labels: { [clusterNameLabel]: 'other' } }, 'it is labeled for Cluster other'],
    ['is of another type', { type: 'example.com/ca' }, 'its type is example.com/ca'],
    [
      'cert-manager renews',
      { annotations: { 'cert-manager.io/certificate-name': 'a' } },
      'its annotation cert-manager.io/certificate-name shows that cert-manager renews it',
    ],
    ['is immutable', { immutable: true }, 'it is immutable'],
    [
      'belongs to somebody',
      { ownerReferences: [{ apiVersion: 'a/v1', kind: 'Owner', name: 'one', uid: 'u' }] },
      'it belongs to Owner one',
    ],
  ])('refuses a supplied CA that %s, and leaves it as it is', async (_what, change: Partial<Supplied>, why) => {
    await begin({ labels: { [clusterNameLabel]: 'tenant' } });
    const { 'tls.crt': certificate, 'tls.key': key } = (lost[0] ?? {}) as Data;
    const pair = { 'tls.crt': certificate, 'tls.key': key, ...change.data };
    const data = Object.fromEntries(Object.entries(pair).filter(([, value]) => value !== undefined)) as Data;
    const marks = { [clusterNameLabel]: 'tenant' };
    const supplied = await supply({ type: clusterSecretType, labels: marks, ...change, data });
    await expect(move()).rejects.toThrow(`Secret tenant-ca exists`);
    await expect(move()).rejects.toThrow(`(${why}): delete it`);
    expect(await world.secret('ca')).toEqual(supplied);
  });

  test('refuses keys of encrypted data that the backup does not have', async () => {
    const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, name: 'tenant-encryption' }, data: {} };
    await world.cluster.seed(kinds.Secret, foreign);
    await expect(move()).rejects.toThrow('Secret tenant-encryption exists');
  });

  test('refuses a backup without one of the Secrets, which would be generated later', async () => {
    const { folder } = world.parts();
    const [name = ''] = await folder.list('backups/');
    const record = JSON.parse(Buffer.from(await folder.read(name)).toString()) as {
      readonly objects: readonly Secret[];
    };
    const objects = record.objects.filter(({ metadata }) => metadata.name !== 'shop-sa-certificate');
    await folder.write(name, Buffer.from(JSON.stringify({ ...record, objects })));
    await expect(move()).rejects.toThrow('the backup has no Secret shop-sa-certificate');
  });

  test('is not backed up before: what it has would be taken for its last known moment', async () => {
    await world.settle();
    await expect(world.backUp()).rejects.toThrow('waits for TenantRestore tenant-restore');
  });

  test('takes the content of the backup that the last attempt has chosen', async () => {
    world.afterWrite = () => {
      throw new Error('died');
    };
    await expect(move()).rejects.toThrow('died');
    world.afterWrite = () => undefined;
    const older = (await world.secret('ca'))?.metadata.uid;
    const body = [{ op: 'replace', path: '/data/ca.key', value: 'b2xkZXI=' }];
    await world.cluster.admin.patch(kinds.Secret, { ...key, name: 'tenant-ca' }, { type: 'json', body });
    await move();
    expect(await keysNow()).toEqual(lost);
    expect((await world.secret('ca'))?.metadata.uid).toBe(older);
  });

  test('is not complete if its CA was changed while the data was restored', async () => {
    world.onReport = async ({ step }) => {
      if (step !== 'Waking') return;
      const body = [{ op: 'replace', path: '/data/ca.key', value: 'b3RoZXI=' }];
      await world.cluster.admin.patch(kinds.Secret, { ...key, name: 'tenant-ca' }, { type: 'json', body });
    };
    await expect(move()).rejects.toThrow('Secret tenant-ca was changed while the data was restored');
    expect(restoreMarkOf(await world.read())).toBeUndefined();
  });
});

describe('A move', () => {
  test('waits for the pods of the control plane that was backed up, and says so when they do not end', async () => {
    const metadata = { ...key, name: 'shop-abc', labels: { [labels.name]: 'shop' } };
    await world.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata });
    await expect(move()).rejects.toThrow('waited 60 s for the pods of default/tenant and default/shop to end');
    expect(await keysNow()).toEqual([undefined, undefined, undefined]);
  });

  test('is refused while another control plane of the namespace uses the same CA, and not while that one sleeps', async () => {
    const { apiVersion, kind, spec } = await world.read();
    const { controlPlane } = spec;
    const withReplicas = (replicas: number): object => ({
      ...spec,
      controlPlane: { ...controlPlane, deployment: { ...controlPlane.deployment, replicas } },
    });
    const twin = { ...key, name: 'twin' };
    await world.cluster.seed(tenantControlPlane, { apiVersion, kind, metadata: twin, spec: withReplicas(2) });
    const data = lost[0] as Secret['data'];
    const metadata = { ...key, name: 'twin-ca' };
    await world.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, data });
    await expect(move()).rejects.toThrow(
      'TenantControlPlane default/twin is in use with the CA that default/tenant is to get',
    );
    expect(await keysNow()).toEqual([undefined, undefined, undefined]);
    await world.cluster.admin.patch(tenantControlPlane, twin, { type: 'merge', body: { spec: withReplicas(0) } });
    await move();
    expect(await keysNow()).toEqual(lost);
  });

  test.each([
    ['exists and waits for nothing', () => ({ [annotations.awaitsRestore]: null })],
    ['was restored before', (uid: string) => ({ [annotations.restored]: `2030-01-01T00:00:00.000Z another ${uid}` })],
  ])('never touches a control plane that %s', async (_what, changed) => {
    await world.change({ metadata: { annotations: changed((await world.read()).metadata.uid) } });
    await world.settle();
    const data = await world.data();
    data.tenantWrites(put('pods/live', 'data'));
    const before = await keysNow();
    await expect(move()).rejects.toThrow('does not wait for a restore, and may have CAs, keys and data');
    expect(data.texts()).toEqual([['pods/live', 'data']]);
    expect(await keysNow()).toEqual(before);
  });

  test('does not mark another control plane that has taken the name meanwhile', async () => {
    world.onReport = async ({ step }) => {
      if (step !== 'Waking') return;
      const { apiVersion, kind, spec } = await world.read();
      const body = { metadata: { finalizers: null } };
      await world.cluster.admin.patch(tenantControlPlane, key, { type: 'merge', body });
      await world.cluster.admin.delete(tenantControlPlane, key, { propagation: 'Orphan' });
      await world.cluster.seed(tenantControlPlane, { apiVersion, kind, metadata: key, spec });
    };
    await expect(move()).rejects.toMatchObject({ code: 409 });
    expect((await world.read()).metadata.annotations?.[annotations.restored]).toBeUndefined();
  });

  test('that died before it could say so is recognized as complete by its repetition', async () => {
    await move();
    expect(await move()).toBeUndefined();
    expect(world.reports.at(-1)).toMatchObject({ step: 'Restored', problem: null });
  });

  // Three Secrets and the mark.
  test.each(
    [1, 2, 3, 4].flatMap((call) => [
      { call, moment: 'before' },
      { call, moment: 'after' },
    ]),
  )('converges when its process dies $moment write $call of 4', async ({ call, moment }) => {
    let calls = 0;
    const die = (): void => {
      calls += 1;
      if (calls === call) throw new Error('died');
    };
    if (moment === 'before') world.beforeWrite = die;
    else world.afterWrite = die;
    await expect(move()).rejects.toThrow('died');
    await move();
    expect(calls).toBeGreaterThanOrEqual(call);
    expect((await world.data()).texts()).toEqual([['pods/a', 'one']]);
    expect(await keysNow()).toEqual(lost);
    expect(restoreMarkOf(await world.read())?.task).toBe('a');
    await wakeUp();
    expect(await keysNow()).toEqual(lost);
  });

  test('fails without the permissions that it needs, and leaves the control plane waiting', async () => {
    world.beforeWrite = () => {
      throw new ApiError(403, 'Forbidden', 'secrets is forbidden');
    };
    await expect(move()).rejects.toThrow('secrets is forbidden');
    await world.settle();
    expect(await keysNow()).toEqual([undefined, undefined, undefined]);
  });
});

import { beforeAll, describe, expect, test } from '@jest/globals';
import { clusterNameLabel, clusterSecretType } from '../../api/cluster-api/names.ts';
import { capiCluster } from '../../api/cluster-api/kinds.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import { annotations, labels } from '../../api/names.ts';
import { awaitedRestore, restoreMarkOf } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { MemoryRepository } from '../../testing/fake/memory-repository.ts';
import { BackupWorld } from '../../testing/worlds/backup-world.ts';
import { crashPoints } from '../../testing/worlds/crash-points.ts';
import { put } from '../../testing/builders/put.ts';
import { RestoredClusterWorld, clusterName, key, restoreKey } from '../../testing/worlds/restored-cluster-world.ts';

/** The backups of `shop`, which Cluster API had made, and its CAs and service-account key. */
const backups = new MemoryRepository();
let lost: readonly unknown[];

const start = (spec: object = {}): Promise<RestoredClusterWorld> => RestoredClusterWorld.from(backups, spec);

beforeAll(async () => {
  const world = await BackupWorld.begin();
  lost = await world.authorities();
  await world.backUp();
  await world.backupsAreOf('shop');
  for (const [name, content] of world.repository.files) backups.files.set(name, content);
});

async function secretOf(world: RestoredClusterWorld, name: string): Promise<Readonly<Record<string, string>>> {
  const found = await world.cluster.admin.get(kinds.Secret, { namespace: key.namespace, name });
  return found?.data ?? {};
}

const isRestoring = async (world: RestoredClusterWorld): Promise<boolean> =>
  (await world.restoreNow())?.status?.process?.step === 'Restoring' || world.restores > 0;

describe('A StewardControlPlane that starts from a backup', () => {
  test('gets data, CAs and keys of the lost control plane under its own names, and then runs with its replicas', async () => {
    const world = await start();
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
    expect((await world.data()).texts()).toEqual([['pods/a', 'one']]);
    expect(world.replicas(await world.read())).toBe(2);
    expect(await world.said('Restored')).toMatch(/^True Completed: restored as of 2030-/);
    expect((await world.controlPlane())?.status?.restore).toMatchObject({
      name: restoreKey.name,
      restoredTime: expect.stringMatching(/^2030-/),
      completionTime: expect.any(String),
    });
    // Cluster API tells joining workers this one; those that have joined know it already.
    const [ca] = lost as readonly Readonly<Record<string, string>>[];
    expect((await secretOf(world, `${clusterName}-ca`))['tls.crt']).toBe(ca?.['ca.crt']);
    expect(world.restores).toBe(1);
  });

  test('shows Cluster API that it waits, with what its TenantRestore says, while nothing runs and no CA is generated', async () => {
    const world = await start();
    world.processesStart = false;
    for (let round = 0; round < 12; round += 1) await world.round();
    const waits = 'waiting for TenantRestore tenant-restore: Running';
    expect(await world.said('Restored')).toBe(`False Running: ${waits}`);
    expect(await world.said('Available')).toBe(`False NotAvailable: ${waits}`);
    expect(await world.said('Initialized')).toBe(`False NotInitialized: ${waits}`);
    const scp = await world.controlPlane();
    expect(scp?.status).toMatchObject({ initialized: false, ready: false, replicas: 0 });
    const generations = scp?.status?.conditions?.map(({ observedGeneration }) => observedGeneration);
    expect(new Set(generations)).toEqual(new Set([scp?.metadata.generation]));
    expect(await world.authorities()).toEqual([undefined, undefined, undefined]);
    expect(await secretOf(world, `${clusterName}-ca`)).toEqual({});
    expect(await world.deployment()).toBeUndefined();
    expect(world.tenant.calls).toEqual([]);
  });

  test('never has another CA, in whatever order its controllers and the restore run', async () => {
    const world = await start();
    const seen = new Set<string>();
    world.cluster.after(async ({ kind, verb }) => {
      if (kind?.kind !== 'Secret' || verb === 'get' || verb === 'list') return;
      const { 'ca.key': ca } = await secretOf(world, 'tenant-ca');
      if (ca !== undefined) seen.add(ca);
    });
    await world.untilUsed();
    expect([...seen]).toEqual([(lost as readonly Readonly<Record<string, string>>[])[0]?.['ca.key']]);
  });

  test('does not use a CA that was supplied for its Cluster in place of the one of the backup, and reports it', async () => {
    const world = await start();
    const data = { 'tls.crt': 'b3RoZXI=', 'tls.key': 'b3RoZXI=' };
    const metadata = { ...key, name: `${clusterName}-ca`, labels: { [clusterNameLabel]: clusterName } };
    await world.cluster.seed(kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      type: clusterSecretType,
      data,
    });
    await world.untilHolds(async () => (await world.said('KubeadmResourcesCreated')).startsWith('False CAMismatch'));
    expect(await world.authorities()).toEqual(lost);
    expect(await secretOf(world, `${clusterName}-ca`)).toEqual(data);
  });

  test('accepts the same CA that was supplied for its Cluster, and leaves that Secret alone', async () => {
    const [ca] = lost as readonly Readonly<Record<string, string>>[];
    const world = await start();
    const data = { 'tls.crt': ca?.['ca.crt'] ?? '', 'tls.key': ca?.['ca.key'] ?? '' };
    const metadata = { ...key, name: `${clusterName}-ca`, labels: { [clusterNameLabel]: clusterName } };
    const type = clusterSecretType;
    const supplied = await world.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata, type, data });
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
    expect(await world.cluster.admin.get(kinds.Secret, { ...key, name: `${clusterName}-ca` })).toEqual(supplied);
  });

  test('says who waits for which Secret while the key of the backup is missing, and goes on once it is there', async () => {
    const world = await start();
    await world.cluster.admin.delete(kinds.Secret, { ...key, name: 'backup-key' });
    // For longer than a process would have tried.
    for (let round = 0; round < 40; round += 1) {
      await world.round();
      await world.clock.advance(15_000);
    }
    const waits =
      'waiting for TenantRestore tenant-restore: waiting for Secret default/backup-key, whose key "key" has to be the one that the backups were encrypted with: create it';
    expect(await world.said('Restored')).toBe(`False WaitingForKey: ${waits}`);
    expect(await world.said('Available')).toBe(`False NotAvailable: ${waits}`);
    expect(await world.authorities()).toEqual([undefined, undefined, undefined]);
    await world.createKey();
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
    expect(world.restores).toBe(1);
  });

  test('says who waits for which pods while those of the lost control plane still run', async () => {
    const world = await start();
    const pod = { ...key, name: 'shop-abc' };
    const metadata = { ...pod, labels: { [labels.name]: 'shop' }, finalizers: ['test/kubelet'] };
    world.podsStop = false;
    await world.cluster.seed(kinds.Pod, { apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Running' } });
    for (let round = 0; round < 12; round += 1) await world.round();
    expect(await world.said('Restored')).toBe(
      'False WaitingForPods: waiting for TenantRestore tenant-restore: waiting for the pods of shop to end, whose CAs and keys tenant gets and which may still write: shop-abc',
    );
    expect(world.restores).toBe(0);
    world.podsStop = true;
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
  });

  test('says why the restore failed and how to try again, and does so once the TenantRestore is deleted', async () => {
    const world = await start();
    const foreign = { apiVersion: 'v1', kind: 'Secret', metadata: { ...key, name: 'tenant-ca' }, data: {} };
    await world.cluster.seed(kinds.Secret, foreign);
    await world.untilHolds(async () => (await world.said('Restored')).startsWith('False RestoreFailed'));
    expect(await world.said('Available')).toContain('remove the cause and delete TenantRestore tenant-restore');
    expect(await world.said('Available')).toContain('Secret tenant-ca exists');
    await world.cluster.admin.delete(kinds.Secret, { ...key, name: 'tenant-ca' });
    for (let round = 0; round < 10; round += 1) await world.round();
    expect(world.replicas(await world.read())).toBe(0);
    await world.cluster.admin.delete(tenantRestore, restoreKey);
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
  });
});

describe('The restore of a StewardControlPlane happens once', () => {
  /** A control plane in use, with data of its own. */
  async function live(): Promise<RestoredClusterWorld> {
    const world = await start();
    await world.untilUsed();
    (await world.data()).tenantWrites(put('pods/b', 'later'));
    return world;
  }

  async function stays(world: RestoredClusterWorld): Promise<void> {
    for (let round = 0; round < 5; round += 1) {
      await world.round();
      expect(world.replicas(await world.read())).toBe(2);
    }
    expect((await world.data()).texts()).toEqual([
      ['pods/a', 'one'],
      ['pods/b', 'later'],
    ]);
    expect(await world.authorities()).toEqual(lost);
    expect(world.restores).toBe(1);
    expect(awaitedRestore(await world.read())).toBeUndefined();
  }

  test('although the manager restarts', async () => {
    const world = await live();
    world.restart();
    await stays(world);
  });

  test('although its TenantRestore is deleted', async () => {
    const world = await live();
    await world.cluster.admin.delete(tenantRestore, restoreKey);
    await stays(world);
    expect(await world.restoreNow()).toBeUndefined();
  });

  test('although its status is lost, with its TenantRestore', async () => {
    const world = await live();
    const body = { status: null };
    await world.cluster.admin.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    expect((await world.controlPlane())?.status).toBeUndefined();
    await world.cluster.admin.delete(tenantRestore, restoreKey);
    await stays(world);
    expect(await world.said('Restored')).toMatch(/^True Completed/);
  });

  test('although its status and the mark on the TenantControlPlane are lost, which it reports', async () => {
    const world = await live();
    const body = { status: null };
    await world.cluster.admin.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    await world.change({ metadata: { annotations: { [annotations.restored]: null } } });
    await stays(world);
    expect(await world.said('Restored')).toContain('False TenantControlPlaneExists');
    expect(await world.said('Available')).toMatch(/^True/);
  });

  test('although what it starts from changes, past the rule of the schema', async () => {
    const world = await live();
    const spec = { restoreFrom: { repository: null, policyName: 'other' } };
    await world.cluster.admin.patch(stewardControlPlane, key, { type: 'merge', body: { spec } });
    await stays(world);
  });

  test('although what it starts from is removed, as by a topology without the variable', async () => {
    const world = await live();
    const body = { spec: { restoreFrom: null, version: '1.36.4' } };
    await world.cluster.admin.patch(stewardControlPlane, key, { type: 'merge', body });
    await stays(world);
    expect(await world.said('Restored')).toMatch(/^True Completed/);
    expect((await world.read()).spec.kubernetes.version).toBe('v1.36.4');
    await world.cluster.admin.delete(capiCluster, { namespace: key.namespace, name: clusterName });
    await world.cluster.admin.delete(stewardControlPlane, key);
    await world.untilHolds(async () => (await world.controlPlane()) === undefined);
    for (let round = 0; round < 5; round += 1) await world.round();
    expect(await world.left()).toEqual([]);
  });

  test('although its TenantControlPlane is deleted alone, whose data the next one adopts', async () => {
    const world = await live();
    await world.change({ metadata: { annotations: { [annotations.deleteAnyway]: 'true' } } });
    const { uid } = (await world.read()).metadata;
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.untilHolds(async () => {
      const found = await world.cluster.admin.get(tenantControlPlane, key);
      return found !== undefined && found.metadata.uid !== uid;
    });
    await world.untilUsed();
    await stays(world);
  });

  test('and its replicas are set only once that is recorded', async () => {
    const world = await start();
    const recorded: boolean[] = [];
    world.cluster.after(async ({ kind, verb }) => {
      if (kind?.kind !== tenantControlPlane.kind || verb !== 'apply') return;
      const tcp = await world.cluster.admin.get(tenantControlPlane, key);
      if (tcp === undefined || world.replicas(tcp) === 0) return;
      const { restore } = (await world.controlPlane())?.status ?? {};
      recorded.push(restore?.completionTime !== undefined && restoreMarkOf(tcp) !== undefined);
    });
    await world.untilUsed();
    expect(new Set(recorded)).toEqual(new Set([true]));
  });

  test.each([
    ['words', 'yes'],
    ['a date', '2030-01-01T00:00:00.000Z'],
    ['the mark of another control plane', '2030-01-01T00:00:00.000Z a-task another-uid'],
  ])('although a user writes %s into its mark', async (_what, mark) => {
    const world = await start();
    world.processesStart = false;
    await world.untilHolds(async () => (await world.said('Restored')).startsWith('False Running'));
    await world.change({ metadata: { annotations: { [annotations.restored]: mark } } });
    for (let round = 0; round < 3; round += 1) await world.round();
    expect(await world.said('Restored')).toMatch(/^False/);
    expect(world.replicas(await world.read())).toBe(0);
    world.processesStart = true;
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
  });

  test('and it reports a mark of another restore, until that is removed', async () => {
    const world = await start();
    world.processesStart = false;
    await world.untilHolds(async () => (await world.restoreNow()) !== undefined);
    const { uid } = (await world.read()).metadata;
    const mark = `2030-01-01T00:00:00.000Z another-task ${uid}`;
    await world.change({ metadata: { annotations: { [annotations.restored]: mark } } });
    for (let round = 0; round < 5; round += 1) await world.round();
    expect(await world.said('Restored')).toContain(
      `False MarkMissing: TenantControlPlane tenant has the annotation of another restore`,
    );
    expect(world.replicas(await world.read())).toBe(0);
    await world.change({ metadata: { annotations: { [annotations.restored]: null } } });
    world.processesStart = true;
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
  });

  test('and it reports a mark that was removed before it was recorded', async () => {
    const world = await start();
    await world.untilHolds(() => isRestoring(world));
    const at = { namespace: key.namespace, name: clusterName };
    await world.cluster.admin.patch(capiCluster, at, { type: 'merge', body: { spec: { paused: true } } });
    await world.untilHolds(async () => restoreMarkOf(await world.read()) !== undefined);
    await world.change({ metadata: { annotations: { [annotations.restored]: null } } });
    await world.cluster.admin.patch(capiCluster, at, { type: 'merge', body: { spec: { paused: false } } });
    await world.untilHolds(async () => (await world.said('Restored')).startsWith('False MarkMissing'));
    expect(await world.said('Restored')).toContain(
      'delete TenantRestore tenant-restore, after which another one restores again',
    );
    await world.cluster.admin.delete(tenantRestore, restoreKey);
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
  });

  test('although a user removes the annotation before the process was started', async () => {
    const world = await start();
    await world.untilHolds(async () => (await world.restoreNow()) !== undefined);
    const body = { status: null };
    await world.cluster.admin.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    await world.change({ metadata: { annotations: { [annotations.awaitsRestore]: null } } });
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
    expect(world.restores).toBe(1);
  });

  test('although a user removes the annotation that keeps the control plane waiting', async () => {
    const world = await start();
    world.processesStart = false;
    await world.untilHolds(async () => (await world.said('Restored')).startsWith('False Running'));
    await world.change({ metadata: { annotations: { [annotations.awaitsRestore]: null } } });
    await world.round();
    expect(awaitedRestore(await world.read())).toBe(restoreKey.name);
    world.processesStart = true;
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
  });
});

describe('While it restores', () => {
  test.each([
    [
      'its Cluster',
      async (world: RestoredClusterWorld, paused: boolean) => {
        const at = { namespace: key.namespace, name: clusterName };
        await world.cluster.admin.patch(capiCluster, at, { type: 'merge', body: { spec: { paused } } });
      },
    ],
    [
      'itself by annotation',
      async (world: RestoredClusterWorld, paused: boolean) => {
        const body = { metadata: { annotations: { 'cluster.x-k8s.io/paused': paused ? '' : null } } };
        await world.cluster.admin.patch(stewardControlPlane, key, { type: 'merge', body });
      },
    ],
  ] as const)('a pause of %s stops it, and it continues afterwards', async (_what, pause) => {
    const world = await start();
    world.processesStart = false;
    await world.untilHolds(async () => (await world.restoreNow()) !== undefined);
    await pause(world, true);
    for (let round = 0; round < 3; round += 1) await world.round();
    world.processesStart = true;
    for (let round = 0; round < 15; round += 1) await world.round();
    expect(world.restores).toBe(0);
    expect(world.replicas(await world.read())).toBe(0);
    expect((await world.restoreNow())?.metadata.annotations?.[annotations.paused]).toBeDefined();
    expect(await world.said('Paused')).toMatch(/^True Paused/);
    await pause(world, false);
    await world.untilUsed();
    expect(await world.authorities()).toEqual(lost);
  });

  test('a pause while its process works leaves nothing paused', async () => {
    const world = await start();
    const pauses = async (paused: boolean): Promise<void> => {
      const at = { namespace: key.namespace, name: clusterName };
      await world.cluster.admin.patch(capiCluster, at, { type: 'merge', body: { spec: { paused } } });
    };
    await world.untilHolds(() => isRestoring(world));
    await pauses(true);
    for (let round = 0; round < 10; round += 1) await world.round();
    expect(restoreMarkOf(await world.read())).toBeDefined();
    expect((await world.restoreNow())?.metadata.annotations?.[annotations.paused]).toBeDefined();
    await pauses(false);
    await world.untilUsed();
    await world.untilHolds(async () => (await world.restoreNow())?.status?.phase === 'Completed');
    expect((await world.restoreNow())?.metadata.annotations?.[annotations.paused]).toBeUndefined();
  });

  test('its deletion together with that of its TenantControlPlane keeps the data until its process has ended', async () => {
    const world = await start();
    await world.untilHolds(() => isRestoring(world));
    // As a Job that is deleted in the foreground stays until its pod has ended.
    const [job] = (await world.cluster.admin.list(kinds.Job)).items;
    const at = { namespace: job?.metadata.namespace ?? '', name: job?.metadata.name ?? '' };
    const keepJob = async (finalizers: readonly string[]): Promise<void> => {
      await world.cluster.admin.patch(kinds.Job, at, { type: 'merge', body: { metadata: { finalizers } } });
    };
    await keepJob(['test/pod']);
    const tenancies = [...world.store.tenancies.keys()];
    expect(tenancies).toHaveLength(1);
    await world.cluster.admin.delete(capiCluster, { namespace: key.namespace, name: clusterName });
    await world.cluster.admin.delete(tenantControlPlane, key);
    await world.cluster.admin.delete(tenantRestore, restoreKey);
    await world.cluster.admin.delete(stewardControlPlane, key);
    for (let round = 0; round < 20; round += 1) await world.round();
    expect([...world.store.tenancies.keys()]).toEqual(tenancies);
    await keepJob([]);
    await world.untilHolds(async () => (await world.controlPlane()) === undefined);
    for (let round = 0; round < 5; round += 1) await world.round();
    expect(await world.left()).toEqual([]);
  });

  test.each([
    ['before its TenantRestore works', async (world: RestoredClusterWorld) => (await world.restoreNow()) !== undefined],
    ['while data is written', isRestoring],
    [
      'when the data is complete',
      async (world: RestoredClusterWorld) => {
        const tcp = await world.cluster.admin.get(tenantControlPlane, key);
        return tcp !== undefined && restoreMarkOf(tcp) !== undefined;
      },
    ],
  ])('its deletion %s leaves nothing behind', async (_when, when) => {
    const world = await start();
    await world.untilHolds(() => when(world));
    await world.cluster.admin.delete(capiCluster, { namespace: key.namespace, name: clusterName });
    await world.cluster.admin.delete(stewardControlPlane, key);
    await world.untilHolds(async () => (await world.controlPlane()) === undefined);
    for (let round = 0; round < 5; round += 1) await world.round();
    expect(await world.left()).toEqual([]);
  });
});

describe('A manager that dies', () => {
  test('after any call restores once, with the same CAs and keys', async () => {
    const isWoken = (world: RestoredClusterWorld) => async (): Promise<boolean> => {
      const tcp = await world.cluster.admin.get(tenantControlPlane, key);
      return tcp?.spec.controlPlane.deployment.replicas === 2;
    };
    const model = await start();
    await model.untilHolds(isWoken(model));
    // After a call by which the controllers read or write about the restore; what else the TenantControlPlane needs, other tests repeat.
    const about = [stewardControlPlane, tenantControlPlane, tenantRestore, kinds.Job, kinds.Secret].map(
      ({ kind }) => kind,
    );
    const points = model.cluster.calls.flatMap(({ kind, verb }, at) =>
      about.includes(kind?.kind ?? '') && (verb !== 'get' || kind?.kind !== 'Secret') ? [at + 1] : [],
    );
    expect(points.length).toBeGreaterThan(30);
    for (const calls of crashPoints(points, 'restored cluster')) {
      const world = await start();
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await world.untilHolds(isWoken(world));
      world.restart();
      await world.untilHolds(isWoken(world));
      await world.round();
      expect({ calls, roots: await world.authorities(), restores: world.restores }).toEqual({
        ...{ calls, roots: lost, restores: 1 },
      });
      expect({ calls, data: (await world.data()).texts() }).toEqual({ calls, data: [['pods/a', 'one']] });
      expect({ calls, replicas: world.replicas(await world.read()) }).toEqual({ calls, replicas: 2 });
    }
  }, 300_000);

  test('after any call of a deletion leaves nothing behind', async () => {
    const begin = async (): Promise<RestoredClusterWorld> => {
      const world = await start();
      const hasJob = async (): Promise<boolean> => (await world.cluster.admin.list(kinds.Job)).items.length > 0;
      await world.untilHolds(hasJob);
      await world.cluster.admin.delete(capiCluster, { namespace: key.namespace, name: clusterName });
      await world.cluster.admin.delete(stewardControlPlane, key);
      return world;
    };
    const isGone = (world: RestoredClusterWorld) => async (): Promise<boolean> =>
      (await world.controlPlane()) === undefined;
    const model = await begin();
    const before = model.cluster.calls.length;
    await model.untilHolds(isGone(model));
    const total = model.cluster.calls.length - before;
    for (const calls of crashPoints(total, 'deletion of a restored cluster')) {
      const world = await begin();
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await world.untilHolds(isGone(world));
      world.restart();
      await world.untilHolds(isGone(world));
      for (let round = 0; round < 5; round += 1) await world.round();
      expect({ calls, left: await world.left() }).toEqual({ calls, left: [] });
    }
  }, 300_000);
});

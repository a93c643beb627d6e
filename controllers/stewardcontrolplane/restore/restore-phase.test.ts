import { beforeEach, describe, expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ControlPlaneWorld, conditionNow, conditionOf, key } from '../../../testing/worlds/control-plane-world.ts';

const restoreKey = { ...key, name: 'my-cluster-restore' };
const restoreFromBucket = {
  repository: {
    tenantControlPlaneName: 'shop',
    encryption: { keySecret: { name: 'backup-key', key: 'passphrase' } },
    storage: { bucket: { secretName: 'bucket' } },
  },
};
const restoreFrom = { ...restoreFromBucket, toTime: '2030-01-01T00:00:00Z' };
let world: ControlPlaneWorld;

beforeEach(async () => {
  world = await ControlPlaneWorld.create();
  await world.seedCluster();
});

const restoreNow = (): Promise<TenantRestore | undefined> => world.server.admin.get(tenantRestore, restoreKey);

async function restoredIs(): Promise<string> {
  const { status } = await world.reconcile();
  const { status: is = 'absent', reason = '', message = '' } = conditionOf(status, 'Restored') ?? {};
  return `${is} ${reason}: ${message}`;
}

/** What the controller of TenantRestores reports. */
async function restoreSays(conditions: readonly object[], more: object = {}): Promise<void> {
  const body = { status: { conditions, ...more } };
  await world.server.admin.patch(tenantRestore, restoreKey, { type: 'merge', body }, { subresource: 'status' });
}

describe('A StewardControlPlane with restoreFrom', () => {
  test('creates a TenantRestore of its own namespace that it owns, with what its spec says and no more', async () => {
    world.servesBackups();
    const scp = await world.seed({}, { restoreFrom });
    await world.reconcile();
    const restore = await restoreNow();
    const { toTime, ...source } = restoreFrom;
    expect(restore?.spec).toEqual({ tenantControlPlaneName: key.name, type: 'Move', source, toTime, sleep: false });
    expect(restore?.metadata.namespace).toBe(scp.metadata.namespace);
    expect(restore?.metadata.ownerReferences).toMatchObject([{ uid: scp.metadata.uid, controller: true }]);
  });

  test.each([
    { backupName: 'once' },
    { policyName: 'hourly' },
    restoreFromBucket,
    { repository: { ...restoreFromBucket.repository, storage: { persistentVolumeClaim: { claimName: 'backups' } } } },
    { repository: { ...restoreFromBucket.repository, backupUID: '0dd0b9f5-6f0a-4f4e-9b1c-0a1b2c3d4e5f' } },
  ])('passes %j on', async (source) => {
    world.servesBackups();
    await world.seed({}, { restoreFrom: source });
    await world.reconcile();
    expect((await restoreNow())?.spec.source).toEqual(source);
  });

  test('has a TenantControlPlane without pods that waits for it', async () => {
    world.servesBackups();
    await world.seed({}, { restoreFrom });
    await world.reconcile();
    const tcp = await world.server.admin.get(tenantControlPlane, key);
    expect(tcp?.spec.controlPlane.deployment.replicas).toBe(0);
    expect(tcp?.metadata.annotations?.[annotations.awaitsRestore]).toBe(restoreKey.name);
  });

  test('mirrors reason, message and step of its TenantRestore', async () => {
    world.servesBackups();
    await world.seed({}, { restoreFrom });
    expect(await restoredIs()).toBe('False Pending: waiting for TenantRestore my-cluster-restore');
    const notAllowed = { ...conditionNow('Complete', 'False'), reason: 'StorageNotAllowed', message: 'these are: a' };
    await restoreSays([notAllowed]);
    expect(await restoredIs()).toBe(
      'False StorageNotAllowed: waiting for TenantRestore my-cluster-restore: these are: a',
    );
    const running = { ...conditionNow('Complete', 'False'), reason: 'Running', message: '' };
    await restoreSays([running], { process: { step: 'Restoring' } });
    expect(await restoredIs()).toBe('False Running: waiting for TenantRestore my-cluster-restore: Restoring');
  });

  test('says how to try again when it failed', async () => {
    world.servesBackups();
    await world.seed({}, { restoreFrom });
    await world.reconcile();
    const failed = { ...conditionNow('Failed', 'True'), reason: 'RestoreFailed', message: 'chunk 7 is damaged' };
    await restoreSays([{ ...conditionNow('Complete', 'False'), reason: 'Failed' }, failed]);
    expect(await restoredIs()).toBe(
      'False RestoreFailed: TenantRestore my-cluster-restore failed: chunk 7 is damaged; remove the cause and delete TenantRestore my-cluster-restore, which starts another one',
    );
  });

  test('waits, with words, where the feature gate is off, and its TenantControlPlane does not start empty', async () => {
    await world.seed({}, { restoreFrom });
    expect(await restoredIs()).toMatch(/^False Disabled: .*--feature-gates to Backups=true/);
    expect(await restoreNow()).toBeUndefined();
    const tcp = await world.server.admin.get(tenantControlPlane, key);
    expect(tcp?.metadata.annotations?.[annotations.awaitsRestore]).toBeDefined();
    expect(tcp?.spec.controlPlane.deployment.replicas).toBe(0);
  });

  test('takes no TenantRestore of its name that belongs to somebody else', async () => {
    world.servesBackups();
    await world.seed({}, { restoreFrom });
    const spec = { tenantControlPlaneName: key.name, type: 'Move', source: { policyName: 'other' } };
    const [apiVersion, kind] = ['steward.butlerlabs.dev/v1alpha1', 'TenantRestore'];
    await world.server.seed(tenantRestore, { apiVersion, kind, metadata: restoreKey, spec });
    expect(await restoredIs()).toMatch(/^False OwnedByAnother: a TenantRestore my-cluster-restore exists/);
  });

  test('creates no other TenantRestore because of a cache that does not have the record of the first one yet', async () => {
    world.servesBackups();
    const scp: StewardControlPlane = await world.seed({}, { restoreFrom });
    const body = { status: { restore: { completionTime: '2030-01-01T00:00:00Z' } } };
    await world.server.admin.patch(stewardControlPlane, key, { type: 'merge', body }, { subresource: 'status' });
    await world.controller.reconcile(scp, world.ctx);
    expect(await restoreNow()).toBeUndefined();
  });

  test('is enqueued by its TenantRestore, also when that is gone', async () => {
    world.servesBackups();
    await world.seed({}, { restoreFrom });
    await world.reconcile();
    const watch = world.controller.watches.find(({ kind }) => kind.kind === 'TenantRestore');
    expect(watch?.keys(await restoreNow(), undefined)).toEqual([key]);
  });
});

describe('A StewardControlPlane without restoreFrom', () => {
  test('has neither the condition nor a TenantRestore', async () => {
    world.servesBackups();
    await world.seed();
    expect(await restoredIs()).toBe('absent : ');
    expect(await restoreNow()).toBeUndefined();
  });

  test.each([annotations.awaitsRestore, annotations.restored])('does not hand on %s', async (annotation) => {
    await world.seed({ annotations: { [annotation]: '2030-01-01T00:00:00.000Z' } });
    await world.reconcile();
    const marks = (await world.server.admin.get(tenantControlPlane, key))?.metadata.annotations;
    expect(marks?.[annotation]).toBeUndefined();
  });
});

describe('The deletion of a StewardControlPlane', () => {
  test('waits for its TenantRestore, and says what that needs where none are served', async () => {
    world.servesBackups();
    const scp = await world.seed({}, { restoreFrom });
    await world.reconcile();
    const body = { metadata: { finalizers: ['a/b'] } };
    await world.server.admin.patch(tenantRestore, restoreKey, { type: 'merge', body });
    const first = await world.controller.finalize?.(scp, world.ctx);
    expect(first?.finished).toBe(false);
    expect(conditionOf(first?.status, 'Deleting')?.message).toBe(
      'waiting for TenantRestore my-cluster-restore and its process to end',
    );
    expect((await restoreNow())?.metadata.deletionTimestamp).toBeDefined();
    expect(await world.server.admin.get(tenantControlPlane, key)).toBeDefined();
  });

  test('says so if somebody has paused its TenantRestore, which never ends then', async () => {
    world.servesBackups();
    const scp = await world.seed({}, { restoreFrom });
    await world.reconcile();
    const metadata = { finalizers: ['a/b'], annotations: { [annotations.paused]: 'me' } };
    await world.server.admin.patch(tenantRestore, restoreKey, { type: 'merge', body: { metadata } });
    const result = await world.controller.finalize?.(scp, world.ctx);
    expect(conditionOf(result?.status, 'Deleting')?.message).toContain(
      `it is paused: remove its annotation ${annotations.paused}`,
    );
  });

  test('does not wait for one that has ended', async () => {
    world.servesBackups();
    const scp = await world.seed({}, { restoreFrom });
    await world.reconcile();
    const body = { metadata: { finalizers: ['a/b'] } };
    await world.server.admin.patch(tenantRestore, restoreKey, { type: 'merge', body });
    await restoreSays([], { phase: 'Failed' });
    const result = await world.controller.finalize?.(scp, world.ctx);
    expect(conditionOf(result?.status, 'Deleting')?.message).not.toContain('TenantRestore');
    expect((await restoreNow())?.metadata.deletionTimestamp).toBeDefined();
  });
});

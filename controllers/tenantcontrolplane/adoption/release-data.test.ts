import { expect, test } from '@jest/globals';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Condition, Resource } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { tenantControlPlaneWith } from '../../../testing/builders/tenant-control-plane.ts';
import { addons } from '../addons/registry.ts';
import { releaseData } from './release-data.ts';

const key = { namespace: 'default', name: 'tenant' };
const uid = 'of-tenant';
const now = new Date('2030-01-01T00:00:00Z');
const ctx: Context = { signal: new AbortController().signal, now, log: silent, event: () => undefined };

/** A TenantControlPlane that is deleted alone, of which its StewardControlPlane has on record already that it keeps the data. */
class World {
  readonly cluster = new FakeCluster({ admit: (_kind, object) => object, collectsGarbage: false });
  retainerUid = '';

  async begin(kept: object = { formerUID: uid }): Promise<void> {
    const owner = { apiVersion: 'steward.butlerlabs.dev/v1alpha1', kind: 'TenantControlPlane', name: key.name, uid };
    const metadata = { ...key, name: 'tenant-ca', ownerReferences: [{ ...owner, controller: true }] };
    await this.cluster.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
    const retainer = await this.cluster.seed(stewardControlPlane, {
      apiVersion: `${stewardControlPlane.group}/v1alpha2`,
      kind: stewardControlPlane.kind,
      metadata: key,
      spec: {},
      status: { keptTenancy: { ...kept, record: '{}' } },
    } as Resource);
    this.retainerUid = retainer.metadata.uid ?? '';
  }

  /** What comes of a deletion whose condition has this reason. */
  releaseData(reason?: string): ReturnType<typeof releaseData> {
    const deleting = { type: 'Deleting', status: 'True', message: '', lastTransitionTime: now.toISOString() } as const;
    const conditions: readonly Condition[] = reason === undefined ? [] : [{ ...deleting, reason }];
    const storage = { driver: 'etcd', setup: { schema: 'tenant', user: 'tenant' } } as const;
    return releaseData(this.tenant({ conditions, storage }), { addons, cluster: this.cluster }, ctx);
  }

  tenant(status: TenantControlPlane['status']): TenantControlPlane {
    return tenantControlPlaneWith({
      metadata: {
        ...key,
        uid,
        ownerReferences: [
          {
            apiVersion: `${stewardControlPlane.group}/v1alpha2`,
            kind: stewardControlPlane.kind,
            name: key.name,
            uid: this.retainerUid,
            controller: true,
          },
        ],
      },
      ...(status !== undefined && { status }),
    });
  }

  async ownerOfAuthority(): Promise<string | undefined> {
    const secret = await this.cluster.admin.get(kinds.Secret, { ...key, name: 'tenant-ca' });
    return secret?.metadata.ownerReferences?.map((reference) => reference.uid).join();
  }
}

test('nothing is passed on before the wish to be kept can have been read, whatever is on record', async () => {
  const world = new World();
  await world.begin();
  expect(await world.releaseData()).toMatchObject({ reason: 'RetainingData' });
  expect(await world.releaseData('WaitingForPods')).toMatchObject({ reason: 'RetainingData' });
  expect(await world.ownerOfAuthority()).toBe(uid);
});

test('one that took over and has no data yet passes on what it took over, and is not waited for', async () => {
  const world = new World();
  await world.begin({ formerUID: 'before', heirUID: uid });
  const tcp = world.tenant({ conditions: [] });
  await expect(releaseData(tcp, { addons, cluster: world.cluster }, ctx)).resolves.toBeUndefined();
  expect(await world.ownerOfAuthority()).toBe(world.retainerUid);
});

test('once it is asked for and on record, the authorities go to the StewardControlPlane', async () => {
  const world = new World();
  await world.begin();
  expect(await world.releaseData('RetainingData')).toBe('done');
  expect(await world.ownerOfAuthority()).toBe(world.retainerUid);
});

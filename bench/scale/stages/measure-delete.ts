import { setTimeout as pause } from 'node:timers/promises';

import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';
import { labels } from '../../../api/names.ts';
import { canaryPrefix } from '../../../stores/tenancy-names.ts';
import type { ScaleFleet } from '../fleet/scale-fleet.ts';
import { stores } from '../fleet/scale-fleet.ts';
import type { DeleteRow } from '../scale-rows.ts';

/** What is in the stores, without administrators. */
export interface StoreContent {
  readonly keys: number;
  readonly users: number;
  readonly roles: number;
}

/** What tenants own in the management cluster. */
const owned: readonly KindRef[] = [
  ...[kinds.Deployment, kinds.Service, kinds.Secret, kinds.ConfigMap],
  ...[kinds.PodDisruptionBudget, kinds.NetworkPolicy],
];

/** The garbage collector is given so long. */
const collectionMs = 300_000;

/** Counts what is in the stores of the fleet, without the canaries, which come and go with each verification. */
export async function storeContent(fleet: ScaleFleet): Promise<StoreContent> {
  const lines = async (...words: readonly string[]): Promise<number> => {
    const texts = await Promise.all(stores.map((name) => fleet.stores[name].server.control(...words)));
    const found = texts.flatMap((text) => text.split('\n'));
    return found.filter((line) => line !== '' && !line.includes(canaryPrefix)).length;
  };
  const [keys, users, roles] = await Promise.all([
    lines('get', '', '--prefix', '--keys-only'),
    lines('user', 'list'),
    lines('role', 'list'),
  ]);
  return { keys, users, roles };
}

/** Deletes all tenants at once; `empty` is what was in the stores before there were any. */
export async function measureDelete(
  fleet: ScaleFleet,
  { empty, restSeconds }: { readonly empty: StoreContent; readonly restSeconds: number },
): Promise<DeleteRow> {
  const tenants = fleet.tenants.list().length;
  await fleet.quiet();
  const before = await fleet.manager.begin();
  const began = performance.now();
  const goneMs = await fleet.deleteAll();
  const { lagP99Ms, lagMaxMs } = await fleet.manager.look();
  const stored = await storeContent(fleet);
  const objects = await untilCollected(fleet, began + collectionMs);
  const collectedMs = Math.round(performance.now() - began);
  await pause(restSeconds * 1000);
  const { rssMiB } = await fleet.manager.look();
  return {
    ...{ stage: 'delete', tenants, goneMs, collectedMs, lagP99Ms, lagMaxMs },
    left: {
      keys: stored.keys - empty.keys,
      users: stored.users - empty.users,
      roles: stored.roles - empty.roles,
      objects,
    },
    rssMiB: [before.rssMiB, rssMiB],
  };
}

/** The number of objects that are left of tenants. */
async function untilCollected(fleet: ScaleFleet, deadline: number): Promise<number> {
  for (;;) {
    let left = 0;
    for (const kind of owned) {
      const { items } = await fleet.admin.list(kind, { labelSelector: labels.name, metadataOnly: true });
      left += items.length;
    }
    if (left === 0 || performance.now() > deadline) return left;
    await pause(1_000);
  }
}

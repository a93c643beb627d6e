import type { Manifest } from '../../../../api/meta.ts';
import type { ClusterAddonConfig } from '../../../sources/cluster-addon-config.ts';

/** One object that was applied to a workload cluster. */
export interface InventoryItem {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** The stage that applied it. */
  readonly stage: string;
}

/** The identity of an object: without the version, because a server shows the same object in every version. */
export function itemIdentity({ group, kind, namespace, name }: Omit<InventoryItem, 'version' | 'stage'>): string {
  return [group, kind, namespace, name].join('/');
}

/** The inventory's line for an object of a stage. */
export function itemOf({ apiVersion, kind, metadata }: Manifest, stage: string): InventoryItem {
  const slash = apiVersion.indexOf('/');
  return {
    group: slash < 0 ? '' : apiVersion.slice(0, slash),
    version: apiVersion.slice(slash + 1),
    kind,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    stage,
  };
}

/**
 * The inventory with what a stage is about to apply. Nothing is removed from it before the hook has completed: what is applied and
 * not in the inventory would never be pruned. Returns the same list if nothing is new.
 */
export function withItems(
  inventory: readonly InventoryItem[],
  items: readonly InventoryItem[],
): readonly InventoryItem[] {
  const wanted = new Map(items.map((item) => [itemIdentity(item), item]));
  const kept = inventory.map((item) => wanted.get(itemIdentity(item)) ?? item);
  const known = new Set(inventory.map(itemIdentity));
  const added = [...wanted.values()].filter((item) => !known.has(itemIdentity(item)));
  const isSame = added.length === 0 && kept.every((item, index) => areEqual(item, inventory[index]));
  return isSame ? inventory : [...kept, ...added];
}

function areEqual(a: InventoryItem, b: InventoryItem | undefined): boolean {
  return a.stage === b?.stage && a.version === b.version && itemIdentity(a) === itemIdentity(b);
}

/** The result of a hook. */
export interface HookResult {
  readonly inventory: readonly InventoryItem[];
  /** Names of the stages that were applied, and everything that they name. */
  readonly ran: ReadonlySet<string>;
  readonly rendered: readonly InventoryItem[];
  /** The release that the hook is of. */
  readonly config: ClusterAddonConfig;
}

/**
 * What has to go after a hook: objects of its stages that no stage names anymore, and those of stages that the release does not
 * know. A stage that the release applies in another hook keeps what it has.
 */
export function superfluousItems({ inventory, ran, rendered, config }: HookResult): readonly InventoryItem[] {
  const wanted = new Set(rendered.map(itemIdentity));
  const known = appliedStages(config);
  return inventory.filter((item) => !wanted.has(itemIdentity(item)) && (ran.has(item.stage) || !known.has(item.stage)));
}

/** Names of the stages that any hook of the release applies. */
function appliedStages({ stages }: ClusterAddonConfig): ReadonlySet<string> {
  const all = Object.values(stages).flat();
  return new Set(all.filter(({ action }) => action === 'apply').map(({ name }) => name));
}

/** The inventory without some of its items. */
export function withoutItems(
  inventory: readonly InventoryItem[],
  gone: readonly InventoryItem[],
): readonly InventoryItem[] {
  const identities = new Set(gone.map(itemIdentity));
  return inventory.filter((item) => !identities.has(itemIdentity(item)));
}

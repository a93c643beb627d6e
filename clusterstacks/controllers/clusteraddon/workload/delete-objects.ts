import type { KindRef, Manifest, Resource } from '../../../../api/meta.ts';
import { clusterStackLabels, ownedInstance } from '../../../api/names.ts';
import { messageOf } from '../../../../runtime/reconcile/conditions.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import { installOrder, isDefinition } from './install-order.ts';
import type { Discovery } from '../discovery.ts';
import type { InventoryItem } from './inventory.ts';
import { shortened } from '../shortened.ts';
import type { WorkloadClient } from './workload-budget.ts';

/** Where objects are deleted. */
export interface DeleteTarget {
  readonly cluster: WorkloadClient;
  readonly discovery: Discovery;
  readonly signal: AbortSignal;
}

/** What became of the deletion of some objects. */
export interface DeleteOutcome {
  /** Gone, or someone else's by now. */
  readonly gone: readonly InventoryItem[];
  /** Still there, each with why, as text. */
  readonly left: readonly { readonly item: InventoryItem; readonly message: string }[];
}

/** Annotation by which charts keep an object that they no longer contain. */
const keepAnnotation = 'helm.sh/resource-policy';

/**
 * Deletes objects in the reverse of Helm's order of installation. `spares` keeps definitions, with which all objects of
 * their kinds would be deleted, and objects that their chart keeps: they count as gone. So do objects that lost our label,
 * because they belong to someone else.
 */
export async function deleteObjects(
  items: readonly InventoryItem[],
  target: DeleteTarget & { readonly spares: boolean },
): Promise<DeleteOutcome> {
  const gone: InventoryItem[] = [];
  const left: { item: InventoryItem; message: string }[] = [];
  const byManifest = new Map(items.map((item) => [manifestOf(item), item]));
  for (const group of installOrder([...byManifest.keys()]).toReversed()) {
    const results = await Promise.all(group.map((manifest) => deleteOne(manifest, target)));
    group.forEach((manifest, index) => {
      const item = byManifest.get(manifest);
      const message = results[index];
      if (item === undefined) return;
      if (message === undefined) gone.push(item);
      else left.push({ item, message });
    });
  }
  return { gone, left };
}

/** Undefined when the object is not there anymore, else why it is. */
async function deleteOne(
  manifest: Manifest,
  { cluster, discovery, signal, spares }: DeleteTarget & { readonly spares: boolean },
): Promise<string | undefined> {
  if (spares && isDefinition(manifest)) return undefined;
  const kind = await discovery.kindOf(manifest);
  // A kind that is no longer served has no objects.
  if (kind === undefined) return undefined;
  const { name, namespace } = manifest.metadata;
  const key = kind.namespaced ? { name, namespace: namespace ?? '' } : { name };
  if (kind.namespaced && key.namespace === '') return undefined;
  try {
    const current = await cluster.get(kind, key, { signal });
    if (current === undefined || isForeign(current) || (spares && isKept(current))) return undefined;
    if (current.metadata.deletionTimestamp === undefined) await send(cluster, kind, { current, key, signal });
    const after = await cluster.get(kind, key, { signal });
    return after?.metadata.uid === current.metadata.uid ? leaving(after) : undefined;
  } catch (error) {
    if (error instanceof ApiError) return shortened(messageOf(error));
    throw error;
  }
}

async function send(
  cluster: WorkloadClient,
  kind: KindRef,
  of: { readonly current: Resource; readonly key: { name: string; namespace?: string }; readonly signal: AbortSignal },
): Promise<void> {
  const { uid } = of.current.metadata;
  await cluster.delete(kind, of.key, { propagation: 'Background', signal: of.signal, uid });
}

function leaving({ metadata }: Resource): string {
  const finalizers = metadata.finalizers ?? [];
  return finalizers.length === 0
    ? 'is being deleted'
    : `is being deleted and waits for finalizers: ${finalizers.join(', ')}`;
}

const isForeign = ({ metadata }: Resource): boolean => metadata.labels?.[clusterStackLabels.instance] !== ownedInstance;
const isKept = ({ metadata }: Resource): boolean => metadata.annotations?.[keepAnnotation] === 'keep';

function manifestOf({ group, version, kind, namespace, name }: InventoryItem): Manifest {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return { apiVersion, kind, metadata: { name, ...(namespace === '' ? {} : { namespace }) } };
}

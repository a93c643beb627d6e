import { classOf } from '../../../api/cluster-api/class-of.ts';
import { watchFilterLabel } from '../../../api/cluster-api/names.ts';
import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import { capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import type { ClusterAddon } from '../../../clusterstacks/api/cluster-addon.ts';
import { clusterAddon } from '../../../clusterstacks/api/cluster-addon.ts';
import { hasCompleted } from '../../../clusterstacks/api/has-completed.ts';
import { clusterAddonName, clusterStackLabels } from '../../../clusterstacks/api/names.ts';
import { upgradesBeforeAddons } from '../../../clusterstacks/api/upgrades-before-addons.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Key } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { normalizeVersion } from '../../../kubeadm/versions.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Dependencies } from '../dependencies.ts';

/** The objects that decide about an upgrade. */
export interface Upgrade {
  readonly scp: StewardControlPlane;
  readonly cluster: CapiCluster;
  readonly existing: TenantControlPlane | undefined;
}

/** How an upgrade depends on add-ons that are not complete, as text. */
export interface AddonHold {
  /** What the version waits for. */
  readonly held?: string;
  /** What it does not wait for, since someone says so. */
  readonly passedOver?: string;
}

/**
 * What the version of a control plane waits for; nothing if it may roll out. A Cluster of a cluster stack gets its new
 * version after the add-ons of the new class are in place. Its ClusterAddon decides that: before it was reconciled for the
 * new class it counts as unfinished, and so does a missing one. A control plane that never ran waits for nothing, because
 * add-ons wait for it. An annotation that names the version lets the upgrade continue; that is reported until the add-ons
 * are complete.
 */
export async function heldByAddons(
  deps: Pick<Dependencies, 'cluster' | 'addons' | 'watchFilter'>,
  { scp, cluster, existing }: Upgrade,
  signal: AbortSignal,
): Promise<AddonHold> {
  if (deps.addons === undefined || existing === undefined) return {};
  if (scp.status?.initialization?.controlPlaneInitialized !== true) return {};
  const wanted = normalizeVersion(scp.spec.version);
  const isWanted = [scp, cluster].some((object) => upgradesBeforeAddons(object, wanted));
  if (normalizeVersion(existing.spec.kubernetes.version) === wanted && !isWanted) return {};
  const key = classOf(cluster);
  if (key === undefined) return {};
  const awaited = await awaitedOf(deps, { cluster, key }, signal);
  if (awaited === undefined) return {};
  const force = `to upgrade without waiting, set the annotation ${annotations.upgradeBeforeAddons}=${wanted} on the StewardControlPlane or its Cluster`;
  if (!isWanted) return { held: `the upgrade to ${wanted} waits for ${awaited}; ${force}` };
  return {
    passedOver: `upgrading without the add-ons because the annotation ${annotations.upgradeBeforeAddons} names ${wanted}: the upgrade to ${wanted} does not wait for ${awaited}`,
  };
}

const definition = { name: `${clusterAddon.plural}.${clusterAddon.group}` };

interface Place {
  readonly cluster: CapiCluster;
  readonly key: Key;
}

/** What comes before the version of a Cluster of this class, as text; undefined when nothing does. */
async function awaitedOf(
  deps: Pick<Dependencies, 'cluster' | 'watchFilter'>,
  place: Place,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    return await addonsAwaited(deps, place, signal);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    // Without permissions for the layer, an absent kind and a forbidden one look the same; the CustomResourceDefinition shows which it is.
    if ((await deps.cluster.get(kinds.CustomResourceDefinition, definition, { signal })) === undefined)
      return undefined;
    return `a check whether add-ons have to be updated first, for which the manager lacks permission: ${error.message}; grant it the permissions of cluster stacks (config/clusterstacks), or disable the feature gate ClusterStacks`;
  }
}

async function addonsAwaited(
  deps: Pick<Dependencies, 'cluster' | 'watchFilter'>,
  { cluster, key }: Place,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await deps.cluster.get(capiClusterClass, key, { signal });
  if (found?.metadata.labels?.[clusterStackLabels.release] === undefined) return undefined;
  const answer = await addonOf(deps, cluster, signal);
  if (answer.is === 'unknown kind' || hasCompleted(answer.addon, key)) return undefined;
  const { namespace, name, labels } = cluster.metadata;
  const className = key.namespace === namespace ? key.name : `${key.namespace ?? ''}/${key.name}`;
  const filter = deps.watchFilter;
  if (answer.addon === undefined && filter !== '' && labels?.[watchFilterLabel] !== filter) {
    return `the add-ons of the ClusterClass ${className}, which no manager with --watch-filter=${filter} reconciles: add the label ${watchFilterLabel}=${filter} to the Cluster`;
  }
  return unfinished(answer.addon, { name: clusterAddonName(name), className });
}

/** Reports, when the version is about to change, that the add-ons do not go before. */
export function reportSkipped(
  { passedOver }: AddonHold,
  { scp, existing }: Upgrade,
  { event }: Pick<Context, 'event'>,
): void {
  if (passedOver === undefined || existing === undefined) return;
  const isThere = normalizeVersion(existing.spec.kubernetes.version) === normalizeVersion(scp.spec.version);
  if (!isThere) event('Warning', 'UpgradedBeforeAddons', passedOver);
}

type Answer = { readonly is: 'unknown kind' } | { readonly is: 'known'; readonly addon: ClusterAddon | undefined };

/** A list, because only a list distinguishes an absent object from an absent kind. */
async function addonOf(
  { cluster: client }: Pick<Dependencies, 'cluster'>,
  cluster: CapiCluster,
  signal: AbortSignal,
): Promise<Answer> {
  const { name, namespace } = cluster.metadata;
  const fieldSelector = `metadata.name=${clusterAddonName(name)}`;
  try {
    const { items } = await client.list(clusterAddon, { namespace, fieldSelector, signal });
    return { is: 'known', addon: items[0] };
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return { is: 'unknown kind' };
    throw error;
  }
}

function unfinished(
  addon: ClusterAddon | undefined,
  { name, className }: { readonly name: string; readonly className: string },
): string {
  if (addon === undefined) return `ClusterAddon ${name}, which does not exist yet`;
  const { hook = '' } = addon.spec;
  if (hook === '') return `ClusterAddon ${name}, which has not observed the ClusterClass ${className} yet`;
  const ready = addon.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'False');
  const why = ready === undefined || ready.message === '' ? '' : `: ${ready.message}`;
  return `ClusterAddon ${name} to complete ${hook} of the ClusterClass ${className}${why}`;
}

import { kinds } from '../../api/core/kinds.ts';
import { annotations, finalizers, tenantObjects } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { awaitedRestore } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { migrationShares } from '../../api/steward/v1alpha1/share-in-use.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { Session, Tenancy } from '../../stores/driver.ts';
import { StoreError } from '../../stores/store-error.ts';
import { distinctShares, overrideTenancy, recordedShares } from './datastore/overrides/override-shares.ts';
import type { Dependencies } from './dependencies.ts';
import { releaseData, retainsData } from './adoption/release-data.ts';
import { otherHolder } from './datastore/find-conflicting-owner.ts';
import { removeJob } from './datastore/migration/job.ts';
import { tenancyOfShare } from './datastore/migration/tenancies.ts';
import { tenancyOf } from './datastore/store-phase.ts';
import { podSelectorText } from './shared/pod-selector.ts';
import { releasePort } from './sleep/waking/release-port.ts';

/** What a deletion still waits for. */
export interface Waiting {
  readonly reason: 'Deleting' | 'WaitingForStore' | 'RetainingData' | 'ReleasingData';
  readonly message: string;
  readonly afterMs?: number;
}

/** Until pods are checked again, in milliseconds. */
const podsPaceMs = 250;
/** Until the process of a restore, which is given some time to end, is looked for again, in milliseconds. */
const processPaceMs = 2000;
/** Until the next check for pods that replaced the stopped ones, in milliseconds. */
const replacementMs = 50;
const storePaceMs = 10_000;
/** Grace period of the pods in seconds: the tenant is no longer used, so nothing must be drained. */
const graceSeconds = 1;

/** Pods that are not gone yet. */
interface Stopping extends Waiting {
  /** True when they end by themselves: each was given the short grace period, and no other one is created. */
  readonly isUnderWay: boolean;
}

/**
 * Stops the pods. The Deployment is deleted in the foreground, so that it exists until its pods
 * are gone. The pods are deleted before it, with a short grace period: the first deletion decides how long a pod may take, and an
 * API server with open watches takes all the time it gets. A replacement pod has not started to serve by then.
 */
async function stopPods(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Stopping | undefined> {
  const { signal } = ctx;
  const namespace = tcp.metadata.namespace;
  const key = { namespace, name: tenantObjects(tcp.metadata.name).deployment };
  const [deployment, pods] = await Promise.all([
    deps.cluster.get(kinds.Deployment, key, { signal }),
    deps.cluster.list(kinds.Pod, { namespace, labelSelector: podSelectorText(tcp), metadataOnly: true, signal }),
  ]);
  const ours = deployment?.metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) === true;
  const running = pods.items.filter(({ metadata }) => (metadata.deletionGracePeriodSeconds ?? Infinity) > graceSeconds);
  await Promise.all(
    running.map(({ metadata: { name, uid } }) =>
      deps.cluster.delete(kinds.Pod, { namespace, name }, { gracePeriodSeconds: graceSeconds, signal, uid }),
    ),
  );
  if (deployment !== undefined && ours && deployment.metadata.deletionTimestamp === undefined) {
    await deps.cluster.delete(kinds.Deployment, key, { propagation: 'Foreground', signal });
  }
  if ((deployment === undefined || !ours) && pods.items.length === 0) return undefined;
  const names = pods.items.map(({ metadata }) => metadata.name);
  const what = names.length === 0 ? `Deployment ${key.name}` : `the pods ${names.join(', ')}`;
  const message = `waiting for ${what} to be deleted, so that nothing more is written`;
  const isOurs = deployment !== undefined && ours;
  const isUnderWay = running.length === 0 && !(isOurs && deployment.metadata.deletionTimestamp === undefined);
  return { reason: 'Deleting', message, afterMs: podsPaceMs, isUnderWay };
}

/** Ends the process of a migration, which writes to the target. Its Job does not belong to us by owner reference. */
async function stopMigration(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  if (tcp.status?.storage?.migration === undefined) return undefined;
  if (await removeJob({ tcp, deps, signal: ctx.signal })) return undefined;
  const message = 'waiting for the Job of its migration to be deleted, so that nothing more is copied';
  return { reason: 'Deleting', message, afterMs: podsPaceMs };
}

/**
 * Ends the process of a restore, which writes to the data. It belongs to a TenantRestore, which nobody need have deleted. A process
 * begins only while there are to be no pods.
 */
async function stopRestores(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  const { metadata, spec } = tcp;
  if (awaitedRestore(tcp) === undefined && spec.controlPlane.deployment.replicas !== 0) return undefined;
  const left = await deps.endRestores({ namespace: metadata.namespace, name: metadata.name }, ctx.signal);
  if (left.length === 0) return undefined;
  const message = `waiting for the process of its restore to end, so that nothing more is written: ${left.join(', ')}`;
  return { reason: 'Deleting', message, afterMs: processPaceMs };
}

function waitsForStore(why: string): Waiting {
  const message = `the data cannot be removed: ${why}. If it is lost, or should be left in place, set the annotation ${annotations.abandonData} to "true"`;
  return { reason: 'WaitingForStore', message, afterMs: storePaceMs };
}

/** What the removal of data needs. */
export type StoreParts = Pick<Dependencies, 'cluster' | 'stores' | 'defaultDataStore' | 'allTenants'>;

/**
 * Removes data, user and role from every datastore, even if one of them is unreachable. A tenant that never had a tenancy has
 * nothing to remove. Pods that still run, as `pods` says, are locked out first by the datastore; one that cannot do that keeps the data
 * until they are gone. The same holds for data that is left behind or that gets another owner.
 */
export async function removeData(
  tcp: TenantControlPlane,
  deps: StoreParts,
  ctx: Context,
  pods?: Waiting,
): Promise<Waiting | undefined> {
  const holder = otherHolder(tcp, deps.allTenants());
  const isAbandoned = tcp.metadata.annotations?.[annotations.abandonData] === 'true';
  if (pods !== undefined && (isAbandoned || holder !== undefined)) return pods;
  if (isAbandoned) {
    ctx.event('Warning', 'DataAbandoned', 'the data in the datastore is left behind, as requested by the annotation');
    return undefined;
  }
  if (holder !== undefined) {
    ctx.event('Warning', 'DataAbandoned', `the data belongs to TenantControlPlane ${holder} and is not removed`);
    return undefined;
  }
  const left = await Promise.all([
    removeMigrated(tcp, deps, ctx, pods),
    removeOverrides(tcp, deps, ctx, pods),
    removeInUse(tcp, deps, ctx, pods),
  ]);
  return left.find((waiting) => waiting !== undefined);
}

/** Removes a tenancy. Its access goes first, so that a pod which still runs writes nothing anymore. */
async function removeTenancy(session: Session, tenancy: Tenancy, pods?: Waiting): Promise<Waiting | undefined> {
  if (pods !== undefined && session.revoke === undefined) return pods;
  await session.remove(tenancy);
  return undefined;
}

/** Removes the tenancies of overrides. Each is tried, even if others fail. */
async function removeOverrides(
  tcp: TenantControlPlane,
  deps: StoreParts,
  ctx: Context,
  pods?: Waiting,
): Promise<Waiting | undefined> {
  const left = await Promise.all(
    distinctShares(recordedShares(tcp)).map((share) =>
      removeShare({ name: share.dataStoreName, tenancy: overrideTenancy(tcp, share), pods }, deps, ctx),
    ),
  );
  return left.find((waiting) => waiting !== undefined);
}

/** Removes what migrations have created or left besides the tenancy in use. Each is tried, even if others fail. */
async function removeMigrated(
  tcp: TenantControlPlane,
  deps: StoreParts,
  ctx: Context,
  pods?: Waiting,
): Promise<Waiting | undefined> {
  const inUse = tenancyOf(tcp);
  const name = dataStoreName(tcp, deps.defaultDataStore);
  const others = migrationShares(tcp.status?.storage).filter(
    (share) => share.schema !== undefined && (share.dataStoreName !== name || share.schema !== inUse.schema),
  );
  const left = await Promise.all(
    others.map((share) =>
      removeShare({ name: share.dataStoreName, tenancy: tenancyOfShare(tcp, share), pods }, deps, ctx),
    ),
  );
  return left.find((waiting) => waiting !== undefined);
}

/** Removes one tenancy with its user. If another owner has its names, it is not ours. */
async function removeShare(
  { name, tenancy, pods }: { readonly name: string; readonly tenancy: Tenancy; readonly pods: Waiting | undefined },
  deps: StoreParts,
  ctx: Context,
): Promise<Waiting | undefined> {
  const store = await deps.cluster.get(dataStore, { name }, { signal: ctx.signal });
  if (store === undefined) return waitsForStore(`DataStore ${name} does not exist`);
  try {
    const open = await deps.stores.open(store, ctx.signal);
    return await open.use((session) => removeTenancy(session, tenancy, pods));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason === 'OwnedByAnother' || error.reason === 'InvalidName') return undefined;
    return waitsForStore(`DataStore ${name}: ${error.message}`);
  }
}

async function removeInUse(
  tcp: TenantControlPlane,
  deps: StoreParts,
  ctx: Context,
  pods?: Waiting,
): Promise<Waiting | undefined> {
  const name = dataStoreName(tcp, deps.defaultDataStore);
  const recorded = tcp.status?.storage?.setup?.schema !== undefined;
  const store = name === '' ? undefined : await deps.cluster.get(dataStore, { name }, { signal: ctx.signal });
  if (store === undefined) return recorded ? waitsForStore(`DataStore ${name} does not exist`) : undefined;
  try {
    const open = await deps.stores.open(store, ctx.signal);
    return await open.use((session) => removeTenancy(session, tenancyOf(tcp), pods));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // If it was never recorded as ours and another owner has these names, it is not ours to remove.
    if (!recorded && error.reason === 'OwnedByAnother') return undefined;
    return waitsForStore(`DataStore ${name}: ${error.message}`);
  }
}

/** Removes finalizers that other versions of Steward have set. */
async function releaseFinalizers(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<void> {
  const { namespace, name } = tcp.metadata;
  const config = { namespace, name: tenantObjects(name).dataStoreConfig };
  const secret = await deps.cluster.get(kinds.Secret, config, { signal: ctx.signal });
  const left = (
    list: readonly string[] | undefined,
    gone: string,
  ): { metadata: { finalizers: readonly string[] } } => ({
    metadata: { finalizers: (list ?? []).filter((finalizer) => finalizer !== gone) },
  });
  const held = secret?.metadata.finalizers ?? [];
  if (held.includes(finalizers.dataStoreSecret)) {
    const body = left(held, finalizers.dataStoreSecret);
    await deps.cluster.patch(kinds.Secret, config, { type: 'merge', body }, { signal: ctx.signal });
  }
  if (tcp.metadata.finalizers?.includes(finalizers.soot) === true) {
    const body = {
      metadata: {
        ...left(tcp.metadata.finalizers, finalizers.soot).metadata,
        resourceVersion: tcp.metadata.resourceVersion,
      },
    };
    await deps.cluster.patch(tenantControlPlane, { namespace, name }, { type: 'merge', body }, { signal: ctx.signal });
  }
}

/**
 * Removes what garbage collection does not: the processes that write, the pods, the data with user and role, unless that is retained,
 * then the finalizers. Data that is retained is released when the last pod is gone, so that two owners never use it at the same time. Undefined when all is done. May be
 * interrupted and repeated at any point.
 */
export async function remove(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  await deps.tenants.close(tcp.metadata.uid);
  await releasePort(tcp, deps, ctx);
  const migrating = await stopMigration(tcp, deps, ctx);
  if (migrating !== undefined) return migrating;
  const restoring = await stopRestores(tcp, deps, ctx);
  if (restoring !== undefined) return restoring;
  const pods = await stopPods(tcp, deps, ctx);
  if (pods !== undefined && retainsData(tcp)) return pods;
  const kept = await releaseData(tcp, deps, ctx);
  if (kept !== undefined && kept !== 'done') return kept;
  const waiting = kept === 'done' ? undefined : await removeData(tcp, deps, ctx, pods);
  if (waiting !== undefined) return waiting;
  // A pod that the Deployment has created in the meantime would take all the time that it gets.
  if (pods !== undefined && !pods.isUnderWay) return { ...pods, afterMs: replacementMs };
  await releaseFinalizers(tcp, deps, ctx);
  return undefined;
}

import { kinds } from '../../api/core/kinds.ts';
import { annotations, finalizers, tenantObjects } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { migrationShares } from '../../api/steward/v1alpha1/share-in-use.ts';
import type { Context } from '../../runtime/controller.ts';
import type { Tenancy } from '../../stores/driver.ts';
import { StoreError } from '../../stores/store-error.ts';
import { distinctShares, overrideTenancy, recordedShares } from './components/override-shares.ts';
import type { Dependencies } from './dependencies.ts';
import { handOver } from './hand-over.ts';
import { otherHolder } from './other-holder.ts';
import { removeJob } from './phases/migration/job.ts';
import { tenancyOfShare } from './phases/migration/shares.ts';
import { tenancyOf } from './phases/store.ts';
import { podSelectorText } from './status.ts';

/** What a deletion still waits for. */
export interface Waiting {
  readonly reason: 'Deleting' | 'WaitingForStore' | 'HandingOver' | 'LettingGo';
  readonly message: string;
  readonly afterMs: number;
}

/** Until pods are asked after again, in milliseconds. */
const podsPaceMs = 250;
const storePaceMs = 10_000;
/** What a pod gets to stop: nobody uses the tenant any more, so nothing must be drained. */
const graceSeconds = 1;

/**
 * Stops the pods: as long as one runs it may write. The Deployment goes in the foreground, so that it stays until its pods
 * are gone. The pods are told before it, and told to hurry: whoever tells a pod first decides how long it may take, and an
 * API server whose watches are open takes all it gets. A pod that replaces one meanwhile has not begun to serve.
 */
async function stopPods(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  const { signal } = ctx;
  const namespace = tcp.metadata.namespace ?? '';
  const key = { namespace, name: tenantObjects(tcp.metadata.name ?? '').deployment };
  const [deployment, pods] = await Promise.all([
    deps.cluster.get(kinds.Deployment, key, { signal }),
    deps.cluster.list(kinds.Pod, { namespace, labelSelector: podSelectorText(tcp), metadataOnly: true, signal }),
  ]);
  const ours = deployment?.metadata.ownerReferences?.some(({ uid }) => uid === tcp.metadata.uid) === true;
  await Promise.all(
    pods.items
      .filter(({ metadata }) => (metadata.deletionGracePeriodSeconds ?? Infinity) > graceSeconds)
      .map(({ metadata }) =>
        deps.cluster.delete(
          kinds.Pod,
          { namespace, name: metadata.name ?? '' },
          { gracePeriodSeconds: graceSeconds, signal, ...(metadata.uid !== undefined && { uid: metadata.uid }) },
        ),
      ),
  );
  if (deployment !== undefined && ours && deployment.metadata.deletionTimestamp === undefined) {
    await deps.cluster.delete(kinds.Deployment, key, { propagation: 'Foreground', signal });
  }
  if ((deployment === undefined || !ours) && pods.items.length === 0) return undefined;
  const names = pods.items.map(({ metadata }) => metadata.name ?? '');
  const what = names.length === 0 ? `Deployment ${key.name}` : `the pods ${names.join(', ')}`;
  const message = `waits until ${what} are gone, so that nothing is written any more`;
  return { reason: 'Deleting', message, afterMs: podsPaceMs };
}

/** Ends the process of a migration, which writes to the target. Its Job is not ours by owner reference. */
async function stopMigration(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  if (tcp.status?.storage?.migration === undefined) return undefined;
  if (await removeJob({ tcp, deps, signal: ctx.signal })) return undefined;
  const message = 'waits until the Job of its migration is gone, so that nothing is copied any more';
  return { reason: 'Deleting', message, afterMs: podsPaceMs };
}

function waitsForStore(why: string): Waiting {
  const message = `the data cannot be removed: ${why}. If it is lost or kept on purpose, set the annotation ${annotations.abandonData} to "true"`;
  return { reason: 'WaitingForStore', message, afterMs: storePaceMs };
}

/** What the removal of data needs. */
export type StoreParts = Pick<Dependencies, 'cluster' | 'stores' | 'defaultDataStore' | 'allTenants'>;

/** Removes data, user and role from every store: one that is away keeps no other. A tenant that never had a share has nothing to remove. */
export async function removeData(
  tcp: TenantControlPlane,
  deps: StoreParts,
  ctx: Context,
): Promise<Waiting | undefined> {
  if (tcp.metadata.annotations?.[annotations.abandonData] === 'true') {
    ctx.event('Warning', 'DataAbandoned', 'the data in the store is left behind, as the annotation asks');
    return undefined;
  }
  const holder = otherHolder(tcp, deps.allTenants());
  if (holder !== undefined) {
    ctx.event('Warning', 'DataAbandoned', `the data is that of TenantControlPlane ${holder}, and is left alone`);
    return undefined;
  }
  const left = await Promise.all([
    removeMigrated(tcp, deps, ctx),
    removeOverrides(tcp, deps, ctx),
    removeInUse(tcp, deps, ctx),
  ]);
  return left.find((waiting) => waiting !== undefined);
}

/** Removes what stores hold of single resources. Each is tried, whatever the others come to. */
async function removeOverrides(tcp: TenantControlPlane, deps: StoreParts, ctx: Context): Promise<Waiting | undefined> {
  const left = await Promise.all(
    distinctShares(recordedShares(tcp)).map((share) =>
      removeShare(share.dataStoreName, overrideTenancy(tcp, share), deps, ctx),
    ),
  );
  return left.find((waiting) => waiting !== undefined);
}

/** Removes what migrations have made or left besides the share in use. Each is tried, whatever the others come to. */
async function removeMigrated(tcp: TenantControlPlane, deps: StoreParts, ctx: Context): Promise<Waiting | undefined> {
  const inUse = tenancyOf(tcp);
  const name = dataStoreName(tcp, deps.defaultDataStore);
  const others = migrationShares(tcp.status?.storage).filter(
    (share) => share.schema !== undefined && (share.dataStoreName !== name || share.schema !== inUse.schema),
  );
  const left = await Promise.all(
    others.map((share) => removeShare(share.dataStoreName, tenancyOfShare(tcp, share), deps, ctx)),
  );
  return left.find((waiting) => waiting !== undefined);
}

/** Removes one share with its user. What another owner has under its names is not ours. */
async function removeShare(
  name: string,
  tenancy: Tenancy,
  deps: StoreParts,
  ctx: Context,
): Promise<Waiting | undefined> {
  const store = await deps.cluster.get(dataStore, { name }, { signal: ctx.signal });
  if (store === undefined) return waitsForStore(`DataStore ${name} does not exist`);
  try {
    const open = await deps.stores.open(store, ctx.signal);
    await open.use((session) => session.remove(tenancy));
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.reason === 'OwnedByAnother' || error.reason === 'InvalidName') return undefined;
    return waitsForStore(`DataStore ${name}: ${error.message}`);
  }
}

async function removeInUse(tcp: TenantControlPlane, deps: StoreParts, ctx: Context): Promise<Waiting | undefined> {
  const name = dataStoreName(tcp, deps.defaultDataStore);
  const recorded = tcp.status?.storage?.setup?.schema !== undefined;
  const store = name === '' ? undefined : await deps.cluster.get(dataStore, { name }, { signal: ctx.signal });
  if (store === undefined) return recorded ? waitsForStore(`DataStore ${name} does not exist`) : undefined;
  try {
    const open = await deps.stores.open(store, ctx.signal);
    await open.use((session) => session.remove(tenancyOf(tcp)));
    return undefined;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // What nobody recorded as ours and somebody else has under these names is not ours to remove.
    if (!recorded && error.reason === 'OwnedByAnother') return undefined;
    return waitsForStore(`DataStore ${name}: ${error.message}`);
  }
}

/** Takes away finalizers that other versions of the operator have set. */
async function releaseFinalizers(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<void> {
  const { namespace = '', name = '' } = tcp.metadata;
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
 * Removes what garbage collection does not: first the pods, then the data with user and role, unless the StewardControlPlane keeps
 * it, then what holds the object.
 * Undefined when all is done. May be cut short and begun again anywhere.
 */
export async function remove(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Waiting | undefined> {
  await deps.tenants.close(tcp.metadata.uid ?? '');
  const stopping = (await stopMigration(tcp, deps, ctx)) ?? (await stopPods(tcp, deps, ctx));
  if (stopping !== undefined) return stopping;
  const kept = await handOver(tcp, deps, ctx);
  if (kept !== undefined && kept !== 'done') return kept;
  const waiting = kept === 'done' ? undefined : await removeData(tcp, deps, ctx);
  if (waiting !== undefined) return waiting;
  await releaseFinalizers(tcp, deps, ctx);
  return undefined;
}

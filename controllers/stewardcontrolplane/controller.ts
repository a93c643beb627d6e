import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { ClusterAddon } from '../../clusterstacks/api/cluster-addon.ts';
import { clusterAddon } from '../../clusterstacks/api/cluster-addon.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Key, Resource } from '../../api/meta.ts';
import { finalizers } from '../../api/names.ts';
import { tenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { formerKey, retainedControlPlane } from '../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context, Controller, ReconcileResult, Watch } from '../../runtime/reconcile/controller.ts';
import type { Report } from '../../runtime/reconcile/phases.ts';
import { runPhases } from '../../runtime/reconcile/run-phases.ts';
import { access } from './access.ts';
import { clusterNamesOf, servedCluster, whyPaused } from './infrastructure/cluster-of.ts';
import { capiCluster } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel, watchFilterLabel } from '../../api/cluster-api/names.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import type { Dependencies } from './dependencies.ts';
import { externalStatusOf, localStatusOf } from './hosting/last-known-status.ts';
import { pauseExternal } from './hosting/pause-external.ts';
import { isExternal } from './hosting/reference.ts';
import { finalize } from './deletion.ts';
import { stewardControlPlanePhases } from './recipe.ts';
import { pauseRestore } from './restore/restore-pause.ts';
import type { Scope } from './scope.ts';
import { setTenantPause } from './tenant/tenant-pause.ts';
import { pausedStatus, waitingStatus } from './status.ts';

/** Keeps each StewardControlPlane and its TenantControlPlane together, and reports to Cluster API about it. */
export function stewardControlPlaneController(deps: Dependencies): Controller<StewardControlPlane> {
  const { local: phases, external: externalPhases } = stewardControlPlanePhases(deps);
  return {
    name: 'stewardcontrolplane',
    kind: stewardControlPlane,
    access,
    finalizers: [finalizers.controlPlane],
    formerFinalizers: [finalizers.externalCluster],
    watches: [...watches, ...restoreWatches(deps), ...addonWatches(deps)],
    serves: (scp) => isServed(scp, deps.watchFilter),
    async reconcile(scp, ctx): Promise<ReconcileResult<StewardControlPlane>> {
      const served = await servedCluster(deps, scp, ctx);
      const { cluster } = served;
      const paused = whyPaused(scp, cluster);
      if (paused !== undefined) {
        return pause(deps, scp, { paused, ctx });
      }
      if (cluster === undefined) return { status: waitingStatus(scp, served.why, ctx.now) };
      const scope = { scp, cluster, otherClusters: served.others };
      if (isExternal(scp)) {
        const report = await runPhases(externalPhases, scope, ctx);
        return { status: externalStatusOf(scp, report, ctx.now), ...retryOf(report) };
      }
      deps.external?.clusters.release(scp.metadata.uid);
      const report = await runPhases(phases, scope, ctx);
      const status = localStatusOf(scp, report, ctx.now);
      return isRefused(status) ? { status, afterMs: askAgainMs } : { status, ...retryOf(report) };
    },
    finalize: (scp, ctx) => finalize(deps, scp, ctx),
  };
}

const keyOf = ({ metadata: { namespace, name } }: StewardControlPlane) => ({ namespace, name });

/**
 * The delay until a refused TenantControlPlane is applied again, in milliseconds: its DataStore may have been created
 * meanwhile.
 */
const askAgainMs = 10_000;

const isRefused = (status: StewardControlPlane['status']): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'TenantControlPlaneCreated' && reason === 'Refused') === true;

/** How soon a pause that could not be written to another cluster is tried again, in milliseconds. */
const retryMs = 30_000;

async function pause(
  deps: Dependencies,
  scp: StewardControlPlane,
  { paused, ctx }: { readonly paused: string; readonly ctx: Context },
): Promise<ReconcileResult<StewardControlPlane>> {
  if (!isExternal(scp)) {
    await setTenantPause(deps, keyOf(scp), { paused: true, ctx });
    await pauseRestore(deps, scp, ctx);
    return { status: pausedStatus(scp, paused, ctx.now) };
  }
  const failure = await pauseExternal(deps, scp, ctx);
  if (failure === undefined) return { status: pausedStatus(scp, paused, ctx.now) };
  const message = `${paused}; the TenantControlPlane in the hosting cluster could not be paused: ${failure}`;
  return { status: pausedStatus(scp, message, ctx.now), afterMs: retryMs };
}

const ownerOf = (object: Resource | undefined): readonly Key[] =>
  (object?.metadata.ownerReferences ?? [])
    .filter(
      ({ kind, apiVersion }) =>
        kind === stewardControlPlane.kind && apiVersion.startsWith(`${stewardControlPlane.group}/`),
    )
    .map(({ name }) => ({ namespace: object?.metadata.namespace ?? '', name }));

/** The owners before and after a change: an object that lost its owner is to be given it again. */
function ownersOf(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  return distinct([...ownerOf(old), ...ownerOf(now)]);
}

/** The control plane of the same name, whose TenantControlPlane left the record. */
function retainerOf(old: Resource | undefined, now: Resource | undefined): readonly Key[] {
  const retained = now ?? old;
  return retained === undefined ? [] : [formerKey(retained)];
}

function distinct(keys: readonly Key[]): readonly Key[] {
  return [...new Map(keys.map((key) => [`${key.namespace ?? ''}/${key.name}`, key])).values()];
}

/** The control plane that a Cluster references; one that it no longer references is enqueued as well. */
function controlPlaneOf(cluster: CapiCluster | undefined): readonly Key[] {
  const { apiGroup, kind, name } = cluster?.spec?.controlPlaneRef ?? {};
  if (kind !== stewardControlPlane.kind || apiGroup !== stewardControlPlane.group || name === undefined) return [];
  return [{ namespace: cluster?.metadata.namespace ?? '', name }];
}

/** The Secrets that are watched: those of all Clusters. */
export const clusterSecrets = { kind: kinds.Secret, labelSelector: clusterNameLabel, metadataOnly: true } as const;

const watches: readonly Watch[] = [
  { kind: tenantControlPlane, keys: ownersOf },
  { kind: retainedControlPlane, optional: true, keys: retainerOf },
  { ...clusterSecrets, keys: ownersOf },
  {
    kind: capiCluster,
    optional: true,
    keys: (old: CapiCluster | undefined, now: CapiCluster | undefined) =>
      distinct([...controlPlaneOf(old), ...controlPlaneOf(now)]),
  },
];

/** Where TenantRestores are served, each enqueues the control plane that it is for. */
function restoreWatches({ backups }: Dependencies): readonly Watch[] {
  return backups === true ? [{ kind: tenantRestore, optional: true, keys: ownersOf }] : [];
}

/** The control plane of a Cluster whose ClusterAddon changed: it may hold a version for it. */
function addonWatches({ addons }: Dependencies): readonly Watch[] {
  if (addons === undefined) return [];
  const keys = (old: ClusterAddon | undefined, now: ClusterAddon | undefined): readonly Key[] => {
    const addon = now ?? old;
    const name = addon?.spec.clusterRef.name ?? '';
    const own = addons.controlPlanes().filter((scp) => {
      return scp.metadata.namespace === addon?.metadata.namespace && clusterNamesOf(scp).includes(name);
    });
    return own.map(keyOf);
  };
  return [{ kind: clusterAddon, optional: true, keys }];
}

function isServed(scp: StewardControlPlane, filter: string): boolean {
  return filter === '' || scp.metadata.labels?.[watchFilterLabel] === filter;
}

function retryOf(report: Report<Scope>): Pick<ReconcileResult<StewardControlPlane>, 'afterMs' | 'error' | 'hasMore'> {
  const errors = report.lines.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const times = report.lines.flatMap(({ outcome }) => (outcome?.afterMs === undefined ? [] : [outcome.afterMs]));
  const hasMore = report.lines.some(({ outcome }) => outcome?.is === 'done' && outcome.hasMore === true);
  return {
    ...(times.length > 0 ? { afterMs: Math.min(...times) } : {}),
    ...(hasMore ? { hasMore } : {}),
    ...(errors.length > 0 ? { error: errors[0] } : {}),
  };
}

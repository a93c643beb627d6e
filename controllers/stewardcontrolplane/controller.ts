import type { StewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import { kinds } from '../../api/core/kinds.ts';
import type { Key, Resource } from '../../api/meta.ts';
import { finalizers } from '../../api/names.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Controller, Visit, Watch } from '../../runtime/controller.ts';
import type { Report } from '../../runtime/phases.ts';
import { definePhases, runPhases } from '../../runtime/run-phases.ts';
import { access } from './access.ts';
import { clusterNameOf, clusterOf, whyNotOurs, whyPaused } from './cluster-of.ts';
import { capiCluster } from '../../api/cluster-api/kinds.ts';
import { clusterNameLabel, watchFilterLabel } from '../../api/cluster-api/names.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import type { Dependencies } from './dependencies.ts';
import { finalize } from './finalize.ts';
import { addressPhase, endpointPhase } from './phases/endpoint.ts';
import { infrastructurePhase } from './phases/infrastructure.ts';
import { secretsPhase } from './phases/secrets.ts';
import { tenantPhase } from './phases/tenant.ts';
import type { Scope } from './scope.ts';
import { setTenantPause } from './tenant-pause.ts';
import { pausedStatus, statusOf, waitingStatus } from './status.ts';

/** Keeps each StewardControlPlane and its TenantControlPlane together, and tells Cluster API about it. */
export function stewardControlPlaneController(deps: Dependencies): Controller<StewardControlPlane> {
  const phases = definePhases<Scope>([
    tenantPhase(deps),
    addressPhase(),
    endpointPhase(deps),
    infrastructurePhase(deps),
    secretsPhase(deps),
  ]);
  return {
    name: 'stewardcontrolplane',
    kind: stewardControlPlane,
    access,
    finalizers: [finalizers.controlPlane],
    watches,
    async reconcile(scp, ctx): Promise<Visit<StewardControlPlane>> {
      if (!isServed(scp, deps.watchFilter)) return {};
      const name = clusterNameOf(scp);
      const cluster = await clusterOf(deps, scp, name, ctx);
      if (cluster === undefined) {
        const message =
          name === undefined
            ? 'no Cluster owns this object yet; name it in spec.controlPlaneRef of a Cluster in this namespace'
            : `the Cluster ${name} that owns this object does not exist`;
        return { status: waitingStatus(scp, message, ctx.now) };
      }
      const foreign = whyNotOurs(scp, cluster);
      if (foreign !== undefined) return { status: waitingStatus(scp, foreign, ctx.now) };
      const paused = whyPaused(scp, cluster);
      if (paused !== undefined) {
        await setTenantPause(deps, scp, { paused: true, ctx });
        return { status: pausedStatus(scp, paused, ctx.now) };
      }
      await setTenantPause(deps, scp, { paused: false, ctx });
      const report = await runPhases(phases, { scp, cluster }, ctx);
      return { status: statusOf(scp, report, ctx.now), ...retryOf(report) };
    },
    finalize: (scp, ctx) => finalize(deps, scp, ctx),
  };
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
  const owners = [...ownerOf(old), ...ownerOf(now)];
  return [...new Map(owners.map((key) => [`${key.namespace ?? ''}/${key.name}`, key])).values()];
}

const watches: readonly Watch[] = [
  { kind: tenantControlPlane, keys: ownersOf },
  { kind: kinds.Secret, labelSelector: clusterNameLabel, metadataOnly: true, keys: ownersOf },
  {
    kind: capiCluster,
    optional: true,
    keys(old, now) {
      const cluster: CapiCluster | undefined = now ?? old;
      const ref = cluster?.spec?.controlPlaneRef;
      if (ref?.kind !== stewardControlPlane.kind || ref.name === undefined) return [];
      return [{ namespace: cluster?.metadata.namespace ?? '', name: ref.name }];
    },
  },
];

function isServed(scp: StewardControlPlane, filter: string): boolean {
  return filter === '' || scp.metadata.labels?.[watchFilterLabel] === filter;
}

function retryOf(report: Report<Scope>): Pick<Visit<StewardControlPlane>, 'afterMs' | 'error'> {
  const errors = report.lines.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const times = report.lines.flatMap(({ outcome }) =>
    outcome?.is === 'waiting' && outcome.afterMs !== undefined ? [outcome.afterMs] : [],
  );
  return {
    ...(times.length > 0 ? { afterMs: Math.min(...times) } : {}),
    ...(errors.length > 0 ? { error: errors[0] } : {}),
  };
}

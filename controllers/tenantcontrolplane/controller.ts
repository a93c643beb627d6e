import { kinds } from '../../api/core/kinds.ts';
import { annotations, finalizers, tenantObjects } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { setCondition } from '../../runtime/conditions.ts';
import type { Context, Controller, LastVisit, Visit } from '../../runtime/controller.ts';
import { resultOf } from '../../runtime/result-of.ts';
import { runPhases } from '../../runtime/run-phases.ts';
import { access } from './access.ts';
import { announcements } from './announce.ts';
import { overrideStoreNames } from './components/override-shares.ts';
import { conditions } from './conditions.ts';
import { createDependencies } from './create-dependencies.ts';
import type { TenantControlPlaneOptions } from './create-dependencies.ts';
import { remove } from './deletion.ts';
import type { Dependencies } from './dependencies.ts';
import { inherit } from './inheritance.ts';
import { tenantControlPlanePhases } from './phases.ts';
import type { Observed, Scope } from './scope.ts';
import { refusalsByStore } from './namespace-labels.ts';
import { findState, podSelectorText, status } from './status.ts';
import { recheckMs } from './tenant-doors.ts';
import { tenantControlPlaneWatches } from './watches.ts';

/** Reads what there is, from the API server itself: a decision about keys must not rest on an old copy. */
async function gather(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Observed> {
  const { cluster } = deps;
  const { signal } = ctx;
  const { namespace = '', name = '' } = tcp.metadata;
  const names = tenantObjects(name);
  const store = dataStoreName(tcp, deps.defaultDataStore);
  const readStore = (key: string): Promise<DataStore | undefined> => cluster.get(dataStore, { name: key }, { signal });
  const [service, deployment, secrets, dataStoreFound, others] = await Promise.all([
    cluster.get(kinds.Service, { namespace, name: names.service }, { signal }),
    cluster.get(kinds.Deployment, { namespace, name: names.deployment }, { signal }),
    cluster.list(kinds.Secret, { namespace, labelSelector: podSelectorText(tcp), signal }),
    store === '' ? undefined : readStore(store),
    Promise.all(overrideStoreNames(tcp).map(readStore)),
  ]);
  const present = [dataStoreFound, ...others].filter((found) => found !== undefined);
  return {
    service,
    deployment,
    secrets: new Map(secrets.items.map((secret) => [secret.metadata.name ?? '', secret])),
    dataStore: dataStoreFound,
    overrideStores: new Map(
      others.flatMap((found) => (found === undefined ? [] : [[found.metadata.name ?? '', found] as const])),
    ),
    refusals: await refusalsByStore(namespace, present, { cluster, signal }),
  };
}

/** Until the next certificate must be renewed, in milliseconds. */
function untilRenewal(scope: Readonly<Scope>, now: Date): readonly number[] {
  const { certificateRenewal, kubeconfigRenewal, trustdRenewal, tcpProxyRenewal } = scope;
  return [certificateRenewal, kubeconfigRenewal, trustdRenewal, tcpProxyRenewal].flatMap((at) =>
    at === undefined ? [] : [Math.max(at - now.getTime(), 1000)],
  );
}

/** Makes TenantControlPlanes what their specs say. */
export function tenantControlPlaneController(options: TenantControlPlaneOptions): Controller<TenantControlPlane> {
  const deps = createDependencies(options);
  const phases = tenantControlPlanePhases(deps);

  const reconcile = async (tcp: TenantControlPlane, ctx: Context): Promise<Visit<TenantControlPlane>> => {
    const inherited = await inherit(tcp, deps, ctx);
    if (inherited !== undefined) return inherited;
    const observed = await gather(tcp, deps, ctx);
    const report = await runPhases<Scope>(phases, { tcp, observed }, ctx);
    const state = findState(report.scope);
    const list = conditions(report, state, ctx.now);
    for (const { type, reason, message } of announcements(tcp.status?.conditions ?? [], list)) {
      ctx.event(type, reason, message);
    }
    const { error, afterMs, ...more } = resultOf(report);
    const wishes = [
      ...(afterMs === undefined ? [] : [afterMs]),
      ...(report.scope.tenantPrepared === true ? [recheckMs] : []),
      ...untilRenewal(report.scope, ctx.now),
      ...(report.scope.migration?.afterMs === undefined ? [] : [report.scope.migration.afterMs]),
    ];
    return {
      status: status({ scope: report.scope, state, conditions: list, now: ctx.now }),
      ...(wishes.length > 0 && { afterMs: Math.min(...wishes) }),
      ...more,
      // A move looks at pods and stores again and again until its next step: that is its work, and no standstill.
      ...(report.scope.migration?.afterMs !== undefined && { hasMore: true }),
      ...(error !== undefined && { error }),
    };
  };

  const finalize = async (tcp: TenantControlPlane, ctx: Context): Promise<LastVisit<TenantControlPlane>> => {
    const waiting = await remove(tcp, deps, ctx);
    if (waiting === undefined) return { finished: true };
    const { reason, message, afterMs } = waiting;
    const at = { generation: tcp.metadata.generation ?? 0, now: ctx.now };
    const list = setCondition(tcp.status?.conditions ?? [], { type: 'Deleting', status: 'True', reason, message }, at);
    return { finished: false, afterMs, status: { ...tcp.status, conditions: list } };
  };

  return {
    name: 'tenantcontrolplane',
    kind: tenantControlPlane,
    watches: tenantControlPlaneWatches(options.informers, deps.defaultDataStore, deps.migrations.namespace),
    access,
    finalizers: [finalizers.dataStore],
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    reconcile,
    finalize,
  };
}

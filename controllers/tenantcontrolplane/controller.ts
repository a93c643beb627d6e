import { kinds } from '../../api/core/kinds.ts';
import { annotations, finalizers, tenantObjects } from '../../api/names.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../api/steward/v1alpha1/data-stores-of.ts';
import { isAsleep } from '../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { setConditions } from '../../runtime/reconcile/conditions.ts';
import type { Context, Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { resultOf } from '../../runtime/reconcile/result-of.ts';
import { runPhases } from '../../runtime/reconcile/run-phases.ts';
import { access } from './access.ts';
import { addons } from './addons/registry.ts';
import { announcements } from './events.ts';
import { overrideStoreNames } from './datastore/overrides/override-shares.ts';
import { conditions, conditionsWhilePaused, resumed } from './conditions.ts';
import { createDependencies } from './create-dependencies.ts';
import type { TenantControlPlaneOptions } from './create-dependencies.ts';
import { remove } from './deletion.ts';
import type { Dependencies } from './dependencies.ts';
import { adoptData } from './adoption/adopt-data.ts';
import { tenantControlPlanePhases } from './recipe.ts';
import { SecretReaders } from './configuration/secret-readers.ts';
import { withLearned } from './scope.ts';
import type { Observed, Scope } from './scope.ts';
import { refusalsByStore } from './datastore/placement/namespace-labels.ts';
import { findState, status } from './status.ts';
import { ScheduleAnswers } from './sleep/schedule-answers.ts';
import { sleepDecision } from './sleep/sleep-decision.ts';
import type { SleepDecision } from './sleep/sleep-decision.ts';
import { workUnderWay } from './sleep/work-under-way.ts';
import { versionFacts } from './upgrade/version-facts.ts';
import { findRollout, isRollingOut } from './workload/rollout/find-rollout.ts';
import { isUnderWay } from '../../api/steward/v1alpha1/share-in-use.ts';
import { autoscalingOf } from './shared/replicas.ts';
import { podSelectorText } from './shared/pod-selector.ts';
import { recheckMs } from './tenant/tenant-access.ts';
import { tenantControlPlaneWatches, webhookSecretWatch } from './watches.ts';

/**
 * Reads the existing objects. Secrets always come from the API server itself: a decision about keys must not be based on a stale copy. The
 * others come from it unless `seen` answers.
 */
async function gather(tcp: TenantControlPlane, deps: Dependencies, ctx: Context): Promise<Observed> {
  const { cluster } = deps;
  const { signal } = ctx;
  const { namespace, name } = tcp.metadata;
  const names = tenantObjects(name);
  const store = dataStoreName(tcp, deps.defaultDataStore);
  const seen = seenOf(tcp, deps);
  const readStore = (key: string): Promise<DataStore | undefined> => cluster.get(dataStore, { name: key }, { signal });
  const [service, deployment, secrets, dataStoreFound, others] = await Promise.all([
    seen.service ?? cluster.get(kinds.Service, { namespace, name: names.service }, { signal }),
    seen.deployment ?? cluster.get(kinds.Deployment, { namespace, name: names.deployment }, { signal }),
    cluster.list(kinds.Secret, { namespace, labelSelector: podSelectorText(tcp), signal }),
    store === '' ? undefined : (seen.dataStore ?? readStore(store)),
    Promise.all(overrideStoreNames(tcp).map(readStore)),
  ]);
  const present = [dataStoreFound, ...others].filter((found) => found !== undefined);
  return {
    service,
    deployment,
    secrets: new Map(secrets.items.map((secret) => [secret.metadata.name, secret])),
    dataStore: dataStoreFound,
    overrideStores: new Map(
      others.flatMap((found) => (found === undefined ? [] : [[found.metadata.name, found] as const])),
    ),
    refusals: await refusalsByStore(namespace, present, { cluster, signal }),
  };
}

/**
 * What watches have seen, where that is as good as what the API server answers: after this process has applied the objects itself, only others
 * can have changed them since, which the watch reports next. While pods are replaced step by step, data is moved or an autoscaler sets
 * their number, nothing counts as seen.
 */
function seenOf(
  tcp: TenantControlPlane,
  deps: Dependencies,
): Partial<Pick<Observed, 'service' | 'deployment' | 'dataStore'>> {
  const { setup, migration, dataStoreName: recorded } = tcp.status?.storage ?? {};
  // A tenancy that is about to be created is created where the API server says.
  if (setup?.schema === undefined || recorded === undefined) return {};
  if (isUnderWay(migration) || autoscalingOf(tcp) !== undefined) return {};
  const { namespace, name } = tcp.metadata;
  const names = tenantObjects(name);
  const service = deps.recent(tcp, kinds.Service, { namespace, name: names.service });
  const deployment = deps.recent(tcp, kinds.Deployment, { namespace, name: names.deployment });
  if (service === undefined || deployment === undefined || isRollingOut(service, deployment)) return {};
  return { service, deployment, dataStore: deps.recentStore(dataStoreName(tcp, deps.defaultDataStore)) };
}

/** Until the next certificate must be renewed, in milliseconds. */
function untilRenewal(scope: Readonly<Scope>, now: Date): readonly number[] {
  const { certificateRenewal, kubeconfigRenewal, monitoringRenewal } = scope;
  const ofAddons = addons.map((addon) => addon.renewal?.(scope));
  const times = [certificateRenewal, kubeconfigRenewal, monitoringRenewal, ...ofAddons];
  return times.flatMap((at) => (at === undefined ? [] : [Math.max(at - now.getTime(), 1000)]));
}

/** The object with the decision of this reconcile about its sleep: whoever asks whether it sleeps reads the status. */
function withSleep(tcp: TenantControlPlane, sleep: SleepDecision['status']): TenantControlPlane {
  const { sleep: before, ...others } = tcp.status ?? {};
  if (sleep === undefined && before === undefined) return tcp;
  return { ...tcp, status: { ...others, ...(sleep !== undefined && { sleep }) } };
}

/** The controller that makes TenantControlPlanes match their specs. */
export function tenantControlPlaneController(options: TenantControlPlaneOptions): Controller<TenantControlPlane> {
  const deps = createDependencies(options);
  const phases = tenantControlPlanePhases(deps);
  const secretReaders = new SecretReaders(options.memory);

  const answers = new ScheduleAnswers();
  const decideSleep = (tcp: TenantControlPlane, now: Date): SleepDecision =>
    sleepDecision(tcp, now, {
      answers,
      underWay: () => workUnderWay(tcp) ?? deps.backupUnderWay(tcp.metadata),
      use: deps.useOf(tcp.metadata.uid),
      isCalled: deps.waking.requests.isCalled(tcp.metadata, now),
    });

  const reconcile = async (found: TenantControlPlane, ctx: Context): Promise<ReconcileResult<TenantControlPlane>> => {
    secretReaders.learn(found);
    const adopted = await adoptData(found, deps, ctx);
    if (adopted !== undefined) return adopted;
    const sleep = decideSleep(found, ctx.now);
    const tcp = withSleep(found, sleep.status);
    // Before calls are led to the activator: ours would wake it up as well.
    if (isAsleep(tcp)) await deps.tenants.close(tcp.metadata.uid);
    const observed = await gather(tcp, deps, ctx);
    const versions = versionFacts({ tcp, deployment: observed.deployment, newestMinor: deps.newestMinor });
    const rollout = await findRollout({ tcp, observed }, deps, ctx);
    const scope = { tcp, sleep, observed, versions, rollout, addons: {} };
    const report = await runPhases<Scope>(phases, scope, ctx, withLearned);
    deps.tenants.probe(report.scope);
    deps.tenants.meterUse(report.scope);
    const state = findState(report.scope);
    const list = conditions(report, state, ctx.now);
    for (const { type, reason, message } of announcements(tcp.status?.conditions ?? [], list)) {
      ctx.event(type, reason, message);
    }
    const { error, afterMs, ...more } = resultOf(report);
    const after = status({ scope: report.scope, state, conditions: list, now: ctx.now });
    // What it waited for has ended in this reconcile.
    const mayFallAsleep =
      sleep.delayed !== undefined && decideSleep({ ...tcp, status: after }, ctx.now).delayed === undefined;
    const delays = [
      ...(mayFallAsleep ? [1] : []),
      ...(sleep.afterMs === undefined ? [] : [sleep.afterMs]),
      ...(afterMs === undefined ? [] : [afterMs]),
      ...(report.scope.tenantPrepared === true ? [recheckMs] : []),
      ...untilRenewal(report.scope, ctx.now),
      ...(report.scope.migration?.afterMs === undefined ? [] : [report.scope.migration.afterMs]),
    ];
    return {
      status: after,
      ...(delays.length > 0 && { afterMs: Math.min(...delays) }),
      ...more,
      // A migration polls pods and datastores until its next step: that is progress, not a standstill.
      ...((report.scope.migration?.afterMs !== undefined || mayFallAsleep) && { hasMore: true }),
      error,
    };
  };

  const finalize = async (tcp: TenantControlPlane, ctx: Context): Promise<LastReconcile<TenantControlPlane>> => {
    const waiting = await remove(tcp, deps, ctx);
    if (waiting === undefined) return { finished: true };
    const { reason, message, afterMs } = waiting;
    const at = { generation: tcp.metadata.generation, now: ctx.now };
    const deleting = { type: 'Deleting', status: 'True', reason, message } as const;
    const list = setConditions(tcp.status?.conditions ?? [], [deleting, ...resumed(tcp)], at);
    return { finished: false, afterMs, status: { ...tcp.status, conditions: list } };
  };

  return {
    name: 'tenantcontrolplane',
    kind: tenantControlPlane,
    watches: [
      ...tenantControlPlaneWatches(options.informers, deps.defaultDataStore, deps.migrations.namespace),
      webhookSecretWatch(secretReaders),
    ],
    access,
    finalizers: [finalizers.dataStore],
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    whilePaused: (tcp, { why, now }) => ({
      status: { ...tcp.status, conditions: conditionsWhilePaused(tcp, why, now) },
    }),
    reconcile,
    finalize,
  };
}

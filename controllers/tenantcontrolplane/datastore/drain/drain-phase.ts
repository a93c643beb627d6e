import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { DrainedTenant } from '../../../../api/steward/v1alpha1/data-store-drain.ts';
import { isUnderWay, usesTarget } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../../dependencies.ts';
import type { Scope } from '../../scope.ts';
import { storeTrouble } from '../../shared/store-trouble.ts';
import { migrationBlocker } from '../migration/validate-migration.ts';
import { noTargetMessage } from '../placement/choice-words.ts';
import { drainRecord, failureOf, isChosen, isRequestedElsewhere, stayingRecord } from './drain-record.ts';
import type { Failures } from './drain-record.ts';

/** Until the next check whether the cache shows what an earlier process chose, in milliseconds. */
const catchUpMs = 200;

/**
 * Chooses another DataStore for a tenant whose own one is drained. As with placement, the choice is only recorded: the migration begins in
 * the next reconcile, which finds it in the status. `spec.dataStore` stays as its author wrote it, since it may come from a template or a
 * repository which would restore it.
 */
export async function drain(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const store = observed.dataStore;
  if (tcp.status?.storage?.setup?.schema === undefined || store === undefined) return { is: 'done' };
  const name = store.metadata.name;
  const record = drainRecord(tcp);
  if (isUnderWay(tcp.status.storage.migration)) return goOn(tcp, store, deps);
  if (store.spec.drain === undefined || isRequestedElsewhere(tcp, name)) {
    rest(tcp, deps);
    return recorded(stayingRecord(tcp, name));
  }
  if (!isChosen(record, name)) return leave(scope, store, deps, ctx);
  const failure = failureOf(tcp, record, ctx.now);
  if (failure === undefined) {
    deps.drainTurns.goesOn(tcp, name);
    return { is: 'done' };
  }
  rest(tcp, deps);
  const base = stayingRecord(tcp, name) ?? { from: name, named: record.named };
  return recorded({ ...base, ...failure }, untilMs(failure, ctx.now));
}

function recorded(record: DrainedTenant | undefined, afterMs?: number): Outcome<Scope> {
  return { is: 'done', learned: { drain: { record } }, afterMs };
}

/** The tenant does not leave for now: others have their turn, and the place that was reserved for it is free. */
function rest({ metadata: { uid } }: TenantControlPlane, { drainTurns, placements }: Dependencies): void {
  drainTurns.ended(uid);
  placements.release(uid);
}

/** While the data is migrated. When the drain is no longer wanted, the record goes, by which the migration is canceled. */
function goOn(tcp: TenantControlPlane, store: DataStore, deps: Dependencies): Outcome<Scope> {
  const { name } = store.metadata;
  const migration = tcp.status?.storage?.migration;
  const record = drainRecord(tcp);
  if (migration === undefined || !isChosen(record, name)) {
    // The target may be in use already, or the author has requested another DataStore.
    if (record === undefined) rest(tcp, deps);
    return { is: 'done' };
  }
  const canReturn = !usesTarget(migration) && migration.phase !== 'RollingBack';
  if (canReturn && store.spec.drain === undefined) {
    rest(tcp, deps);
    return recorded(stayingRecord(tcp, name));
  }
  deps.drainTurns.goesOn(tcp, name);
  return { is: 'done' };
}

const untilMs = ({ retryTime }: Failures, now: Date): number =>
  retryTime === undefined ? 0 : Math.max(Date.parse(retryTime) - now.getTime(), 0);

async function leave(
  scope: Readonly<Scope>,
  store: DataStore,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const from = store.metadata.name;
  const { keep = 0, targetSelector: selector } = store.spec.drain ?? {};
  const here = { from, named: tcp.spec.dataStore ?? '' };
  const before = drainRecord(tcp);
  const failures = failuresOf(before);
  const staying = { ...(stayingRecord(tcp, from) ?? here), ...failures };
  const blocked = (message: string, afterMs?: number): Outcome<Scope> => {
    rest(tcp, deps);
    return recorded({ ...staying, message }, afterMs);
  };
  const waitMs = untilMs(failures, ctx.now);
  if (waitMs > 0) return blocked(before?.message ?? 'the last migration failed', waitMs);
  const trouble = unreadiness(scope, store) ?? blockerText(tcp, [store.spec.driver]);
  if (trouble !== undefined) return blocked(trouble);
  const turn = deps.drainTurns.take(tcp, from, keep);
  if (turn === 'stay') return recorded(stayingRecord(tcp, from));
  if (turn === 'wait') return recorded(before === undefined ? undefined : staying, deps.drainTurns.recheckMs);
  const mayLeave = (): boolean => deps.drainTurns.take(tcp, from, keep) === 'go';
  const departure = { leaves: from, selector, avoids: failures.failedDataStoreName, mayLeave };
  const answer = await deps.placements.place(tcp, ctx.signal, departure);
  if (answer.is === 'behind') return { is: 'done', afterMs: catchUpMs };
  if (answer.is === 'none') return blocked(noTargetMessage(answer.choice));
  const { name, driver } = answer.fit;
  const unfit = blockerText(tcp, [store.spec.driver, driver]);
  if (unfit !== undefined) return blocked(`DataStore ${name} was chosen, but ${unfit}`);
  ctx.event('Normal', 'Draining', `DataStore ${from} is being drained: the data will be migrated to ${name}`);
  return recorded({ ...here, ...failures, dataStoreName: name, time: ctx.now.toISOString() }, 0);
}

function failuresOf(record: DrainedTenant | undefined): Failures {
  const { failures, failedDataStoreName, retryTime } = record ?? {};
  return failures === undefined ? {} : { failures, failedDataStoreName, retryTime };
}

/** Why a migration could not begin now: meanwhile it would delay others. */
function unreadiness({ endpoint, kubeconfigFacts }: Readonly<Scope>, store: DataStore): string | undefined {
  const trouble = storeTrouble(store);
  if (trouble !== undefined) return `DataStore ${store.metadata.name} cannot be used: ${trouble.message}`;
  if (endpoint === undefined) return 'the control plane has no endpoint yet: the condition EndpointReady says why';
  if (kubeconfigFacts === undefined) return 'kubeconfigs are missing: the condition KubeconfigsReady says why';
  return undefined;
}

function blockerText(tcp: TenantControlPlane, drivers: readonly string[]): string | undefined {
  const blocker = migrationBlocker(tcp, drivers);
  return blocker === undefined ? undefined : `the DataStore ${blocker.reason}: ${blocker.remedy}`;
}

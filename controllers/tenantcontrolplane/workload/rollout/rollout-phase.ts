import { isDeepStrictEqual } from 'node:util';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Deployment, Service } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { isUnderWay } from '../../../../api/steward/v1alpha1/share-in-use.ts';
import { deadline } from '../../../../runtime/deadline.ts';
import { ApiError } from '../../../../runtime/client/errors.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { fieldManager } from '../../dependencies.ts';
import type { Dependencies, OwnedSet } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { holdForFailure } from '../../upgrade/upgrade-hold.ts';
import { versionOfPods } from '../../upgrade/version-of-pods.ts';
import { readVersion } from '../../../../kubeadm/versions.ts';
import {
  failedRolloutOf,
  held,
  holdOf,
  returned,
  startsAllFirst,
  templateChecksum,
  withoutRecords,
  withTemplate,
} from './hold.ts';
import type { FailedRollout, Hold } from './hold.ts';
import { openServers, serversOf } from '../../shared/addon-server.ts';
import { earlyComponent, earlyEndpoints } from './early-endpoints.ts';
import { narrowed } from './narrowed.ts';
import { readRollout } from './read-rollout.ts';
import { readyWith, servingHash } from './rollout-facts.ts';
import type { RolloutFacts, RolloutPod } from './rollout-facts.ts';

/** A rollout that failed is tried again after so many milliseconds: a registry may be back. Each time, it takes twice as long. */
const retryMs = { first: 600_000, longest: 4 * 3600_000 };

/** When the template that failed is tried again. */
function againAt({ at, failures }: FailedRollout): Date {
  return new Date(at.getTime() + Math.min(retryMs.first * 2 ** (failures - 1), retryMs.longest));
}

/** How soon a new rollout is tried again while the one before is not over, in milliseconds. */
const restMs = 250;

const fact = 'template of the pods';

/** What is rolled out, and where. */
interface Rolling {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly ctx: Context;
  readonly made: Manifest;
  /** Checksum of the template of `made`. */
  readonly template: string;
  readonly present: Deployment;
}

/**
 * Applies the Deployment. A change of the pods of a control plane that serves keeps the old pods until the new ones are ready and the
 * Service leads to them: docs/adr/0012-from-one-version-to-the-next.md.
 */
export async function rollOut(
  scope: Readonly<Scope>,
  wanted: Manifest,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const made = withoutRecords(wanted);
  const present = scope.observed.deployment;
  const template = templateChecksum(made);
  // A migration moves a tenant's pods from one datastore to the other in steps of its own.
  const isMigrated = isUnderWay(scope.tcp.status?.storage?.migration);
  const isPlain = !startsAllFirst(made) || isMigrated;
  if (present === undefined) return start({ scope, deps, ctx, made, template });
  const rolling = { scope, deps, ctx, made, template, present };
  // Others need not wait for pods that are not wanted anymore.
  if (replicasOf(made) === 0) deps.startEnded(scope.tcp.metadata.uid);
  const hold = holdOf(present);
  if (hold === undefined && !isMigrated && wakesUp(present, made)) return startInTurn(rolling);
  if (isPlain) return settle(rolling);
  if (hold !== undefined) return goOn(rolling, hold);
  const failed = failedBefore(rolling);
  // A time in the future was not written by us.
  if (failed !== undefined && failed.at <= ctx.now && ctx.now < againAt(failed)) return stay(rolling, failed);
  return (await changesPods(rolling)) ? begin(rolling) : settle(rolling);
}

/** The last failure of the template that is wanted now. */
function failedBefore({ present, template }: Rolling): FailedRollout | undefined {
  const failed = failedRolloutOf(present);
  return failed?.template === template ? failed : undefined;
}

function applied(deployment: Deployment, afterMs?: number, message?: string): Outcome<Scope> {
  return { is: 'done', learned: { deployment }, afterMs, message };
}

/** How soon a turn is requested again where none was given, in milliseconds: the queue enqueues the next one itself. */
const turnMs = 10_000;

function turnText(others: number): string {
  const who =
    others === 1
      ? '1 other control plane is starting its pods'
      : `${others} other control planes are starting their pods`;
  return `${who}: this one follows when one is ready, or after 30 s`;
}

/** How many pods are wanted; undefined where an autoscaler decides. */
function replicasOf(made: Manifest): number | undefined {
  return (made.spec as { readonly replicas?: number }).replicas;
}

/** True for one that has slept. Many have a schedule that wakes them up at the same time. */
function wakesUp(present: Deployment, made: Manifest): boolean {
  return present.spec?.replicas === 0 && (replicasOf(made) ?? 0) > 0;
}

/** Creates the first pods, when it is their turn. */
async function start(first: Omit<Rolling, 'present'>): Promise<Outcome<Scope>> {
  // One that has served is down now.
  return first.scope.versions.installed === undefined ? startInTurn(first) : settle(first);
}

async function startInTurn(first: Omit<Rolling, 'present'>): Promise<Outcome<Scope>> {
  const { scope, deps, ctx } = first;
  const { isCalled = false, status } = scope.sleep ?? {};
  const others = await deps.startTurn(scope.tcp, ctx.signal, isCalled || status?.reason === 'Request');
  if (others === undefined) return settle(first);
  return { is: 'waiting', reason: 'StartsLater', message: turnText(others), afterMs: turnMs };
}

/** Records that the pods are not those of the spec yet: the running version counts, and nothing that they use may be removed. */
function former({ scope: { versions, upgrade } }: Rolling, outcome: Outcome<Scope>): Outcome<Scope> {
  if (outcome.is !== 'done') return outcome;
  const target = versions.running ?? versions.installed ?? needed(upgrade, 'upgrade').target;
  return { ...outcome, learned: { ...outcome.learned, upgrade: { ...upgrade, target }, podsAreFormer: true } };
}

/** Applies the Deployment as it is at rest. */
async function settle({ scope, deps, ctx, made, template }: Omit<Rolling, 'present'>): Promise<Outcome<Scope>> {
  await removeEarly({ scope, deps, ctx });
  const deployment = await deps.apply<Deployment>(scope, made, ctx);
  deps.memory.remember(scope.tcp.metadata.uid, fact, `${template} ${deployment.metadata.generation}`);
  return applied(deployment);
}

/** True when other pods would replace the present ones. Only a dry run shows that: the API server adds defaults and converts quantities. */
async function changesPods({ scope, deps, ctx, made, template, present }: Rolling): Promise<boolean> {
  const isKnown = deps.memory.has(scope.tcp.metadata.uid, fact, `${template} ${present.metadata.generation}`);
  if (isKnown || (present.status?.readyReplicas ?? 0) === 0 || deps.isApplied(scope, made)) return false;
  try {
    const { signal } = ctx;
    const after = await deps.cluster.apply(kinds.Deployment, made, { fieldManager, dryRun: true, signal });
    return !isDeepStrictEqual(after.spec?.template, present.spec?.template);
  } catch (error) {
    // The refusal of the real request will be reported.
    if (error instanceof ApiError && [400, 403, 404, 422].includes(error.code)) return false;
    throw error;
  }
}

/** Narrows the Service to the pods that serve, then creates the new ones beside them. */
async function begin(rolling: Rolling): Promise<Outcome<Scope>> {
  const { scope, deps, ctx, made, template, present } = rolling;
  const { tcp, observed } = scope;
  const { facts } = await readRollout({ tcp, deployment: present, service: observed.service }, deps, ctx);
  const serving =
    facts.selected === undefined ? (readyWith(facts, facts.newest) ?? servingHash(facts)) : servingHash(facts);
  // Until the pods of the rollout before count as available, they would be the first to be deleted.
  if (serving !== undefined && !facts.isAtRest) return former(rolling, applied(present, restMs));
  if (serving === undefined || facts.wanted === 0) return settle(rolling);
  const others = await deps.startTurn(tcp, ctx.signal);
  if (others !== undefined) return later(rolling, others);
  await deps.apply<Service>(scope, narrowed(needed(scope.serviceManifest, 'serviceManifest'), serving), ctx);
  const hold = { began: ctx.now, template, failures: failedBefore(rolling)?.failures ?? 0 };
  return applied(await deps.apply<Deployment>(scope, held(made, hold), ctx));
}

/** Leaves the pods as they are until it is the turn of new ones. */
function later({ scope: { versions, upgrade }, present }: Rolling, others: number): Outcome<Scope> {
  const target = versions.running ?? versions.installed ?? needed(upgrade, 'upgrade').target;
  const hold = { reason: 'StartsLater', message: turnText(others), afterMs: turnMs } as const;
  return {
    is: 'done',
    learned: { deployment: present, upgrade: { target, hold }, podsAreFormer: true },
    findings: [{ condition: 'UpgradeAllowed', outcome: { is: 'waiting', ...hold } }],
  };
}

/** The next step of a rollout under way. The Service has been narrowed for it already. */
async function goOn(rolling: Rolling, hold: Hold): Promise<Outcome<Scope>> {
  const { scope, deps, ctx, made, template, present } = rolling;
  const { step, facts, templates } = needed(scope.rollout, 'rollout');
  const { afterMs } = step;
  if (hold.template !== template) {
    // Pods of yet another template: the switch to those that serve now is finished first.
    const isSwitched = step.select !== undefined && step.select === facts.newest;
    if (isSwitched && step.holds) return applied(present, afterMs);
    await removeEarly(rolling);
    const next = isSwitched ? withTemplate(made, present) : held(made, { began: ctx.now, template, failures: 0 });
    return applied(await deps.apply<Deployment>(scope, next, ctx), 0);
  }
  const before = step.select === undefined ? undefined : templates.get(step.select);
  if (step.returnsBecause !== undefined && before !== undefined)
    return returnTo(rolling, before, {
      ...{ at: ctx.now, template, why: step.returnsBecause },
      failures: hold.failures + 1,
    });
  if (!step.holds) return settle(rolling);
  if (step.switchTo === undefined) await removeEarly(rolling);
  const message = step.switchTo === undefined ? undefined : await switchOver(rolling, facts, step.switchTo);
  const deployment = await deps.apply<Deployment>(scope, held(made, hold), ctx);
  const next = applied(deployment, afterMs, message);
  return next.is === 'done' && step.looks === true ? { ...next, hasMore: true } : next;
}

const earlySet = (manifests: readonly Manifest[]): OwnedSet => ({
  component: earlyComponent,
  manifests,
  prunes: [kinds.EndpointSlice],
});

/** Removes what let clients of add-ons reach new pods early. */
async function removeEarly({ scope, deps, ctx }: Pick<Rolling, 'scope' | 'deps' | 'ctx'>): Promise<void> {
  if (scope.rollout !== undefined) await deps.applySet(scope, earlySet([]), ctx);
}

const unpreparedFact = 'new pods are not prepared';

/** New pods that are ready wait for connections from inside the tenant for so long at most, in milliseconds. */
const preparationMs = 30_000;

/** The answers of all new pods together may take so long, in milliseconds: what takes longer is not waited for. */
const answersMs = 3_000;

/** Leads the Service to the new pods, unless an add-on in them is not prepared. Returns what is waited for. */
async function switchOver(
  { scope, deps, ctx }: Rolling,
  facts: RolloutFacts,
  switchTo: string,
): Promise<string | undefined> {
  const { tcp } = scope;
  const { uid } = tcp.metadata;
  deps.startEnded(uid);
  const pods = facts.pods.filter(({ hash, ready }) => hash === switchTo && ready);
  const waiting = isLate(uid, switchTo, deps) ? undefined : await unprepared(scope, pods, deps, ctx);
  if (waiting !== undefined) {
    const servers = openServers(serversOf(deps.addons), tcp);
    const service = needed(scope.service, 'service');
    await deps.applySet(scope, earlySet(earlyEndpoints(tcp, { service, servers, pods })), ctx);
    return waiting;
  }
  deps.memory.forget(uid, unpreparedFact);
  await deps.apply<Service>(scope, narrowed(needed(scope.serviceManifest, 'serviceManifest'), switchTo), ctx);
  return undefined;
}

/** True when new pods have been ready for so long that nothing is waited for anymore. Counts from the first call. */
function isLate(uid: string, hash: string, { clock, memory }: Dependencies): boolean {
  const now = clock.monotonic();
  const [of, since] = (memory.recall(uid, unpreparedFact) ?? '').split(' ');
  if (of === hash) return now - Number(since) >= preparationMs;
  memory.remember(uid, unpreparedFact, `${hash} ${now}`);
  return false;
}

/** Why one of the pods should not get connections yet, as an add-on says. The answers come from the tenant. */
async function unprepared(
  scope: Readonly<Scope>,
  pods: readonly RolloutPod[],
  deps: Dependencies,
  ctx: Context,
): Promise<string | undefined> {
  const limit = deadline(deps.clock, answersMs, [ctx.signal]);
  try {
    const asked = deps.addons.flatMap((addon) =>
      pods.map(async ({ name, addresses }) => {
        const why = await addon.unprepared?.(scope, addresses[0] ?? '', deps, limit.signal);
        return why === undefined ? undefined : `pod ${name}: ${why}`;
      }),
    );
    const answers = await Promise.all(asked);
    return answers.find((why) => why !== undefined);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (limit.signal.aborted) return undefined;
    throw error;
  } finally {
    limit.release();
  }
}

/** Returns to the pods of an earlier template. They still run, and the Service leads to them. */
async function returnTo(rolling: Rolling, before: object, failed: FailedRollout): Promise<Outcome<Scope>> {
  const { scope, deps, ctx, made } = rolling;
  deps.startEnded(scope.tcp.metadata.uid);
  deps.memory.forget(scope.tcp.metadata.uid, unpreparedFact);
  await removeEarly(rolling);
  const deployment = await deps.apply<Deployment>(scope, returned(made, before, failed), ctx);
  return failedOutcome(rolling, deployment, failed);
}

/** Leaves the pods as they are, since those of the spec have failed. */
async function stay(rolling: Rolling, failed: FailedRollout): Promise<Outcome<Scope>> {
  const { present } = rolling;
  return returnTo(rolling, present.spec?.template ?? {}, failed);
}

function failedOutcome({ scope, ctx }: Rolling, deployment: Deployment, failed: FailedRollout): Outcome<Scope> {
  const { versions, upgrade } = scope;
  const target =
    readVersion(versionOfPods(deployment) ?? '') ?? versions.installed ?? needed(upgrade, 'upgrade').target;
  const again = againAt(failed);
  const hold = holdForFailure(failed.why, { versions, again });
  const afterMs = Math.max(again.getTime() - ctx.now.getTime(), 1000);
  return {
    is: 'done',
    learned: { deployment, upgrade: { target, hold }, podsAreFormer: true },
    findings: [{ condition: 'UpgradeAllowed', outcome: { is: 'waiting', ...hold } }],
    afterMs,
  };
}

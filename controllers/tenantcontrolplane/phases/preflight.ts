import { kinds } from '../../../api/core/kinds.ts';
import type { Pod } from '../../../api/core/kinds.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { versionText } from '../../../kubeadm/versions.ts';
import type { Cluster } from '../../../runtime/cluster.ts';
import type { Context } from '../../../runtime/controller.ts';
import { deadline } from '../../../runtime/deadline.ts';
import { describeFailure } from '../../../runtime/describe-failure.ts';
import { ApiError, UnreachableError } from '../../../runtime/errors.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { nodePagePath, parseNodePage } from '../components/upgrade/node-page.ts';
import type { NodeKubelet } from '../components/upgrade/node-page.ts';
import { isForced, pendingUpgrade } from '../components/upgrade/pending-upgrade.ts';
import type { PendingUpgrade } from '../components/upgrade/pending-upgrade.ts';
import { removedApis } from '../components/upgrade/removed-apis.ts';
import {
  holdFor,
  holdForMove,
  kubeletObstacle,
  laggards,
  removedApiObstacle,
} from '../components/upgrade/upgrade-hold.ts';
import type { Obstacle, UpgradeHold } from '../components/upgrade/upgrade-hold.ts';
import { storeTrouble } from '../components/tenancy.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { podSelectorText } from '../status.ts';

/**
 * What a preflight may take: a tenant's API server can be slow, lie, and go on for ever, and the visit has other work. Above the
 * largest number of nodes that Kubernetes is tested with.
 */
const limits = { ms: 10_000, nodePages: 100, apiServers: 10 } as const;

/** Nobody tells when kubelets or clients of a tenant change: while an upgrade is held they are asked again so often. */
const recheckMs = 60_000;

/** The answers, or that there is none that can be used. */
class Silence extends Error {
  override readonly name = 'Silence';
}

/** The same words for every answer that cannot be used, so that a server which varies its answers causes no writes. */
function silenceOf(error: unknown, spent: boolean): string | undefined {
  if (spent) return `no complete answer within ${limits.ms / 1000} s`;
  if (error instanceof Silence) return error.message;
  // Its own message has the path, and with it a token that the server chose.
  if (error instanceof UnreachableError) return describeFailure(error.cause ?? error);
  return error instanceof ApiError ? `it answers ${error.code}` : undefined;
}

async function lateKubelets(
  door: Cluster,
  { to }: PendingUpgrade,
  signal: AbortSignal,
): Promise<readonly NodeKubelet[]> {
  const late: NodeKubelet[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < limits.nodePages; pages += 1) {
    const page = parseNodePage(await door.text(nodePagePath(next), { signal }));
    if (page === undefined) throw new Silence('its answer is no list of nodes');
    late.push(...laggards(page.kubelets, to));
    next = page.next;
    if (next === undefined) return late;
  }
  throw new Silence(`it has more than ${limits.nodePages} pages of nodes`);
}

const isServing = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase === 'Running' && (status.podIP ?? '') !== '';

interface Visit {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly signal: AbortSignal;
}

/** Each API server tells only what itself was asked: all are asked, those that have no address through the Service. */
async function metrics({ scope, deps, signal }: Visit): Promise<string> {
  const ask = (door: Cluster): Promise<string> => door.text('/metrics', { signal });
  const namespace = scope.tcp.metadata.namespace ?? '';
  const labelSelector = podSelectorText(scope.tcp);
  const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal });
  const pods = items.filter(isServing).slice(0, limits.apiServers);
  if (pods.length === 0) return ask(deps.tenants.door(scope));
  const answers: string[] = [];
  // One after the other: each may be megabytes.
  for (const { status } of pods) answers.push(await deps.tenants.atPod(scope, status?.podIP ?? '', ask));
  return answers.join('\n');
}

async function tenantObstacles(step: PendingUpgrade, visit: Visit): Promise<readonly Obstacle[]> {
  const { scope, deps, signal } = visit;
  const late = await lateKubelets(deps.tenants.door(scope), step, signal);
  const apis = removedApis(await metrics(visit), step.to);
  return [...kubeletObstacle(late, step), ...removedApiObstacle(apis, step)];
}

/** What the tenant itself says against the upgrade. That it says nothing is no permission. */
async function askTenant(
  step: PendingUpgrade,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<readonly Obstacle[]> {
  const reason = 'ApiServerSilent';
  const { deployment } = scope.observed;
  if ((deployment?.status?.readyReplicas ?? 0) === 0) {
    return [{ reason, message: 'no pod is ready, so that nobody can be asked; make the control plane serve' }];
  }
  const limit = deadline(deps.clock, limits.ms, [ctx.signal]);
  try {
    return await tenantObstacles(step, { scope, deps, signal: limit.signal });
  } catch (error) {
    ctx.signal.throwIfAborted();
    const why = silenceOf(error, limit.signal.aborted);
    if (why === undefined) throw error;
    const message = `the API server of the tenant does not tell its nodes and the APIs in use: ${why}`;
    return [{ reason, message }];
  } finally {
    limit.release();
  }
}

/** Nobody can be asked. A version that nobody looked at must not be what wakes up. */
function sleeping({ tcp }: Readonly<Scope>): readonly Obstacle[] {
  if (tcp.spec.controlPlane.deployment.replicas > 0) return [];
  const message = 'no pods are wanted, so that nobody can be asked; raise spec.controlPlane.deployment.replicas';
  return [{ reason: 'Sleeping', message }];
}

/** Why the store would not carry new pods: they would never be ready. */
async function askStore({ observed }: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<readonly Obstacle[]> {
  const { dataStore } = observed;
  if (dataStore === undefined) return [];
  const obstacle = (why: string): readonly Obstacle[] => {
    const message = `DataStore ${dataStore.metadata.name ?? ''} cannot be used: ${why}; new pods would not become ready`;
    return [{ reason: 'StoreUnhealthy', message }];
  };
  const trouble = storeTrouble(dataStore);
  if (trouble !== undefined) return obstacle(trouble.message);
  try {
    const open = await deps.stores.open(dataStore, ctx.signal);
    await open.use((session) => session.ping());
    return [];
  } catch (error) {
    if (error instanceof StoreError) return obstacle(error.message);
    throw error;
  }
}

async function ask(
  step: PendingUpgrade,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<readonly Obstacle[]> {
  const found = await Promise.all([askStore(scope, deps, ctx), askTenant(step, scope, deps, ctx)]);
  return found.flat();
}

const fact = 'preflight';

/** What an answer is about: another question is asked at once. */
function questionOf({ from, to }: PendingUpgrade, { tcp, observed }: Readonly<Scope>): string {
  const { deployment, dataStore } = observed;
  const facts = [
    versionText(from),
    versionText(to),
    tcp.metadata.generation,
    deployment?.metadata.uid,
    deployment?.status?.readyReplicas,
    dataStore?.metadata.uid,
    dataStore?.metadata.generation,
    dataStore && storeTrouble(dataStore)?.message,
  ];
  return JSON.stringify(facts);
}

/**
 * Why the upgrade waits, as it was found at most a minute ago: a held tenant is visited for other reasons too, every two seconds
 * while its certificate requests are looked through. That nothing speaks against it is never remembered.
 */
async function holdOf(
  step: PendingUpgrade,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<UpgradeHold | undefined> {
  const { uid = '' } = scope.tcp.metadata;
  const question = questionOf(step, scope);
  const known = remembered(deps.memory.recall(uid, fact));
  const leftMs = known === undefined ? 0 : known.at + recheckMs - ctx.now.getTime();
  if (known?.question === question && leftMs > 0 && leftMs <= recheckMs) return holdFor(step, known.obstacles, leftMs);
  const obstacles = await ask(step, scope, deps, ctx);
  if (obstacles.length === 0) deps.memory.forget(uid, fact);
  else deps.memory.remember(uid, fact, JSON.stringify({ question, at: ctx.now.getTime(), obstacles }));
  return holdFor(step, obstacles, recheckMs);
}

interface Answer {
  readonly question: string;
  readonly at: number;
  readonly obstacles: readonly Obstacle[];
}

/** What this very process wrote down. */
function remembered(text: string | undefined): Answer | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Answer);
}

/** The tenant as it is made while an upgrade waits: everything that the spec asks for, in the version that runs. */
function staying(tcp: TenantControlPlane, { from }: PendingUpgrade): TenantControlPlane {
  return { ...tcp, spec: { ...tcp.spec, kubernetes: { ...tcp.spec.kubernetes, version: versionText(from) } } };
}

/**
 * Asks, before pods of another minor are made, whether the tenant can live with it. What speaks against it holds the version only:
 * all else goes on in the version that runs. Nobody is asked when there is no step to another minor.
 */
export async function preflight(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const step = pendingUpgrade(tcp, observed.deployment);
  if (step === undefined) return { is: 'done' };
  if (isUnderWay(tcp.status?.storage?.migration)) {
    return { is: 'done', learned: { upgradeHold: holdForMove(step), tcp: staying(tcp, step) } };
  }
  if (isForced(tcp, step)) return { is: 'done' };
  const upgradeHold = holdFor(step, sleeping(scope)) ?? (await holdOf(step, scope, deps, ctx));
  if (upgradeHold === undefined) return { is: 'done' };
  return { is: 'done', learned: { upgradeHold, tcp: staying(tcp, step) } };
}

/** Tells what the preflight has found. */
export function upgrade({ upgradeHold }: Readonly<Scope>): Promise<Outcome<Scope>> {
  return Promise.resolve(told(upgradeHold));
}

function told(hold: UpgradeHold | undefined): Outcome<Scope> {
  return hold === undefined ? { is: 'done' } : { is: 'waiting', ...hold };
}

import { kinds } from '../../../api/core/kinds.ts';
import type { Pod } from '../../../api/core/kinds.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { isAsleep, whyAsleep } from '../../../api/steward/v1alpha1/sleep/is-asleep.ts';
import { versionText } from '../../../kubeadm/versions.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { deadline } from '../../../runtime/deadline.ts';
import { describeFailure } from '../../../runtime/observe/describe-failure.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { nodePagePath, parseNodePage } from './node-page.ts';
import type { NodeKubelet } from './node-page.ts';
import { isForced, pendingUpgrade } from './pending-upgrade.ts';
import type { PendingUpgrade } from './pending-upgrade.ts';
import { removedApis } from './removed-apis.ts';
import { unheld } from './upgrade-decision.ts';
import {
  holdFor,
  holdForMigration,
  kubeletBlocker,
  outdatedKubelets,
  recheckMs,
  removedApiBlocker,
} from './upgrade-hold.ts';
import type { Blocker, UpgradeHold } from './upgrade-hold.ts';
import { storeTrouble } from '../shared/store-trouble.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { podSelectorText } from '../shared/pod-selector.ts';

/**
 * Limits of a preflight: a tenant's API server may be slow, lie, or never finish, and the reconcile has other work. They are
 * above the largest number of nodes that Kubernetes is tested with.
 */
const limits = { ms: 10_000, nodePages: 100, apiServers: 10 } as const;

/** The API server gave no usable answer. */
class Silence extends Error {
  override readonly name = 'Silence';
}

/** The same text for every unusable answer, so that a server which varies its answers causes no writes. */
function silenceOf(error: unknown, spent: boolean): string | undefined {
  if (spent) return `no complete response within ${limits.ms / 1000} s`;
  if (error instanceof Silence) return error.message;
  // Its own message contains the path, and with it a token that the server chose.
  if (error instanceof UnreachableError) return describeFailure(error.cause ?? error);
  return error instanceof ApiError ? `HTTP status ${error.code}` : undefined;
}

async function readOutdatedKubelets(
  client: Cluster,
  { to }: PendingUpgrade,
  signal: AbortSignal,
): Promise<readonly NodeKubelet[]> {
  const outdated: NodeKubelet[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < limits.nodePages; pages += 1) {
    const page = parseNodePage(await client.text(nodePagePath(next), { signal }));
    if (page === undefined) throw new Silence('the response is not a NodeList');
    outdated.push(...outdatedKubelets(page.kubelets, to));
    next = page.next;
    if (next === undefined) return outdated;
  }
  throw new Silence(`the list of nodes has more than ${limits.nodePages} pages`);
}

const isServing = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined && status?.phase === 'Running' && (status.podIP ?? '') !== '';

/** The inputs of the checks inside a tenant. */
interface TenantQuestion {
  readonly scope: Readonly<Scope>;
  readonly deps: Dependencies;
  readonly signal: AbortSignal;
}

/** Each API server only counts its own requests: all of them are queried, those without an address through the Service. */
async function metrics({ scope, deps, signal }: TenantQuestion): Promise<string> {
  const ask = (client: Cluster): Promise<string> => client.text('/metrics', { signal });
  const namespace = scope.tcp.metadata.namespace;
  const labelSelector = podSelectorText(scope.tcp);
  const { items } = await deps.cluster.list(kinds.Pod, { namespace, labelSelector, signal });
  const pods = items.filter(isServing).slice(0, limits.apiServers);
  if (pods.length === 0) return ask(deps.tenants.client(scope));
  const answers: string[] = [];
  // Sequentially: each response may be megabytes.
  for (const { status } of pods) answers.push(await deps.tenants.atPod(scope, status?.podIP ?? '', ask));
  return answers.join('\n');
}

async function tenantBlockers(step: PendingUpgrade, question: TenantQuestion): Promise<readonly Blocker[]> {
  const { scope, deps, signal } = question;
  const outdated = await readOutdatedKubelets(deps.tenants.client(scope), step, signal);
  const apis = removedApis(await metrics(question), step.to);
  return [...kubeletBlocker(outdated, step), ...removedApiBlocker(apis, step)];
}

/** What prevents the upgrade according to the tenant's state. No answer does not count as permission. */
async function askTenant(
  step: PendingUpgrade,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<readonly Blocker[]> {
  const reason = 'ApiServerUnreachable';
  const { deployment } = scope.observed;
  if ((deployment?.status?.readyReplicas ?? 0) === 0) {
    return [
      {
        reason,
        message:
          'no pod of the control plane is ready, so the preflight checks cannot run; the condition ControlPlaneAvailable shows why',
      },
    ];
  }
  const limit = deadline(deps.clock, limits.ms, [ctx.signal]);
  try {
    return await tenantBlockers(step, { scope, deps, signal: limit.signal });
  } catch (error) {
    ctx.signal.throwIfAborted();
    const why = silenceOf(error, limit.signal.aborted);
    if (why === undefined) throw error;
    const message = `the nodes and metrics of the tenant's API server cannot be read: ${why}; see the logs of its pods`;
    return [{ reason, message }];
  } finally {
    limit.release();
  }
}

/** A sleeping tenant cannot be checked, and must not wake up with an unchecked version. */
function sleeping({ tcp }: Readonly<Scope>): readonly Blocker[] {
  if (!isAsleep(tcp)) return [];
  const how = tcp.spec.controlPlane.deployment.replicas === 0 ? 'scale up first' : 'it is upgraded when it is awake';
  const message = `${whyAsleep(tcp)}, so there is no API server to run the preflight checks against; ${how}`;
  return [{ reason: 'Sleeping', message }];
}

/** Whether the datastore is usable: otherwise new pods would never become ready. */
async function askStore({ observed }: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<readonly Blocker[]> {
  const { dataStore } = observed;
  if (dataStore === undefined) return [];
  const blocker = (why: string): readonly Blocker[] => {
    const message = `DataStore ${dataStore.metadata.name} cannot be used: ${why}; pods of the new version would not become ready; repair the DataStore first`;
    return [{ reason: 'StoreUnhealthy', message }];
  };
  const trouble = storeTrouble(dataStore);
  if (trouble !== undefined) return blocker(trouble.message);
  try {
    const open = await deps.stores.open(dataStore, ctx.signal);
    await open.use((session) => session.ping());
    return [];
  } catch (error) {
    if (error instanceof StoreError) return blocker(error.message);
    throw error;
  }
}

async function ask(
  step: PendingUpgrade,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<readonly Blocker[]> {
  const found = await Promise.all([askStore(scope, deps, ctx), askTenant(step, scope, deps, ctx)]);
  return found.flat();
}

const fact = 'preflight';

/** What an answer depends on: if it changes, the checks run again at once. */
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
 * Why the upgrade is held, found at most a minute ago: a held tenant is reconciled for other reasons too, every two seconds while
 * its certificate requests are handled. The absence of blockers is never cached.
 */
async function holdOf(
  step: PendingUpgrade,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<UpgradeHold | undefined> {
  const { uid } = scope.tcp.metadata;
  const question = questionOf(step, scope);
  const known = remembered(deps.memory.recall(uid, fact));
  const leftMs = known === undefined ? 0 : known.at + recheckMs - ctx.now.getTime();
  if (known?.question === question && leftMs > 0 && leftMs <= recheckMs) return holdFor(step, known.blockers, leftMs);
  const blockers = await ask(step, scope, deps, ctx);
  if (blockers.length === 0) deps.memory.forget(uid, fact);
  else deps.memory.remember(uid, fact, JSON.stringify({ question, at: ctx.now.getTime(), blockers }));
  return holdFor(step, blockers, recheckMs);
}

interface Answer {
  readonly question: string;
  readonly at: number;
  readonly blockers: readonly Blocker[];
}

/** The answer that this process stored. */
function remembered(text: string | undefined): Answer | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Answer);
}

/**
 * Decides which version this reconcile works towards. Before pods of another minor are created, it checks whether the tenant can
 * work with it. A blocker holds only the version: everything else is reconciled with the running one. Nothing is checked without a
 * step to another minor, and a step that is refused is reported where the pods are rolled.
 */
export async function preflight(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { versions } = scope;
  const step = pendingUpgrade(versions);
  const hold = step === undefined ? undefined : await findHold(step, scope, deps, ctx);
  if (step === undefined || hold === undefined) return { is: 'done', learned: { upgrade: unheld(versions) } };
  const findings = [{ condition: 'UpgradeAllowed', outcome: { is: 'waiting', ...hold } }] as const;
  return { is: 'done', learned: { upgrade: { target: step.from, hold } }, findings };
}

/** Why the upgrade is held now; undefined when it may start. */
async function findHold(
  step: PendingUpgrade,
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<UpgradeHold | undefined> {
  const { tcp } = scope;
  if (isUnderWay(tcp.status?.storage?.migration)) return holdForMigration(step);
  if (isForced(tcp, step)) return undefined;
  return holdFor(step, sleeping(scope)) ?? (await holdOf(step, scope, deps, ctx));
}

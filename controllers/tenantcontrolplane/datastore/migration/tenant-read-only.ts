import { kinds } from '../../../../api/core/kinds.ts';
import type { Pod } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { freezePolicy } from '../../../../api/names.ts';
import { applyExactly, hasExactSpec } from '../../../../runtime/apply/apply-exactly.ts';
import { sleep } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { failureCode } from '../../../../runtime/observe/describe-failure.ts';
import { ApiError, UnreachableError } from '../../../../runtime/client/errors.ts';
import { freezeManifests, freezeProbes, isFreezeRefusal } from './read-only-policy.ts';
import type { FreezeProbe } from './read-only-policy.ts';
import { fieldManager } from '../../dependencies.ts';
import type { ReadOnlyStep } from './migration-step.ts';
import { podsOf } from './pods.ts';

/** An API server loads new policies once a second; a reconcile waits for two of these intervals. */
const proof = { attempts: 80, pauseMs: 25 } as const;

/**
 * Makes every API server of the tenant deny writes, and proves it with a write to each pod's own address. Undefined when all
 * deny, otherwise which one does not yet. A tenant without pods has no writers.
 */
export async function freeze(step: ReadOnlyStep): Promise<string | undefined> {
  const pods = await podsOf(step);
  if (pods.length === 0) return undefined;
  const { scope, deps } = step;
  await applyFreeze(deps.tenants.client(scope), step);
  return proveFrozen(pods, step);
}

function wantedFreeze({ scope, deps }: ReadOnlyStep): readonly [policy: Manifest, binding: Manifest] {
  const { driver = '' } = scope.tcp.status?.storage?.migration?.source ?? {};
  return freezeManifests({ leadersRenew: deps.stores.capabilities(driver)?.opensUncopied === true });
}

async function applyFreeze(client: Cluster, step: ReadOnlyStep): Promise<void> {
  const [policy, binding] = wantedFreeze(step);
  const options = { fieldManager, signal: step.ctx.signal };
  await applyExactly(client, { kind: kinds.ValidatingAdmissionPolicy, manifest: policy }, options);
  await applyExactly(client, { kind: kinds.ValidatingAdmissionPolicyBinding, manifest: binding }, options);
}

/**
 * Restores the read-only policy if administrators of the tenant changed or deleted it, which Kubernetes allows, since policies are
 * exempt from policies. The old datastore is fenced by then, so nothing is lost there; what was written to the new one in the meantime
 * is lost if the migration is rolled back. If the API server cannot be reached, the next check tries again.
 */
export async function keepFrozen(step: ReadOnlyStep): Promise<void> {
  const { scope, deps, ctx } = step;
  const client = deps.tenants.client(scope);
  const [at, options] = [{ name: freezePolicy }, { signal: ctx.signal }];
  try {
    const [policy, binding] = await Promise.all([
      client.get(kinds.ValidatingAdmissionPolicy, at, options),
      client.get(kinds.ValidatingAdmissionPolicyBinding, at, options),
    ]);
    const [wantedPolicy, wantedBinding] = wantedFreeze(step);
    const isWhole = policy !== undefined && hasExactSpec(policy, wantedPolicy);
    if (isWhole && binding !== undefined && hasExactSpec(binding, wantedBinding)) return;
    await applyFreeze(client, step);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof UnreachableError || error instanceof ApiError) return;
    throw error;
  }
  const message = `ValidatingAdmissionPolicy ${freezePolicy} or its binding, which denies writes in the tenant during the migration, was changed or deleted and has been restored; what was written in the meantime is lost if the migration is rolled back`;
  ctx.event('Warning', 'WritesDeniedAgain', message);
}

/** Undefined when every one of these pods denies writes or does not respond, otherwise which one accepts them. */
export async function proveFrozen(pods: readonly Pod[], step: ReadOnlyStep): Promise<string | undefined> {
  return firstDoubt(pods, step, (answer) => answer === 'denies');
}

async function firstDoubt(
  pods: readonly Pod[],
  step: ReadOnlyStep,
  isWanted: (answer: string) => boolean,
): Promise<string | undefined> {
  const doubts = await Promise.all(pods.map((pod) => doubtAbout(pod, step, isWanted)));
  return doubts.find((doubt) => doubt !== undefined);
}

/** Probes an API server repeatedly for a while; undefined once it answers as wanted, or does not respond. */
async function doubtAbout(
  { metadata, status }: Pod,
  step: ReadOnlyStep,
  isWanted: (answer: string) => boolean,
): Promise<string | undefined> {
  const { scope, deps, ctx } = step;
  const { podIP = '' } = status ?? {};
  const name = metadata.name;
  // A pod without an address cannot be reached, and a server that starts later finds the policy before it responds.
  if (podIP === '') return undefined;
  return deps.tenants.atPod(scope, podIP, async (client) => {
    let doubt: string | undefined;
    for (let attempt = 0; attempt < proof.attempts; attempt += 1) {
      if (attempt > 0) await sleep(deps.clock, proof.pauseMs, ctx.signal);
      const answer = await answerOf(client, probeOf(attempt), ctx.signal);
      if (isWanted(answer) || answer === 'silent') return undefined;
      doubt ??= answer;
    }
    return `the API server of pod ${name} ${doubt ?? ''}`;
  });
}

/** The probes in turn. */
function probeOf(attempt: number): FreezeProbe {
  return freezeProbes[attempt % freezeProbes.length] ?? freezeProbes[0];
}

/** How an API server responds to a write that stores nothing. Throws `UnreachableError` unless nothing listens there. */
async function answerOf(client: Cluster, probe: FreezeProbe, signal: AbortSignal): Promise<string> {
  const options = { dryRun: true, fieldManager, signal };
  try {
    if (probe.verb === 'create') await client.create(kindOf(probe.manifest), probe.manifest, options);
    else await client.patch(kinds[probe.kind], { name: probe.name }, { type: 'merge', body: probe.body }, options);
    return 'still accepts writes';
  } catch (error) {
    if (error instanceof ApiError) return isFreezeRefusal(error) ? 'denies' : `answers: ${error.message}`;
    if (error instanceof UnreachableError && failureCode(error.cause) === 'ECONNREFUSED') return 'silent';
    throw error;
  }
}

function kindOf({ kind }: Manifest): KindRef {
  return kind === 'ConfigMap' ? kinds.ConfigMap : kinds.ValidatingWebhookConfiguration;
}

/**
 * Allows writes again; the binding is deleted first, since the policy has no effect without it. Every API server gets a moment to
 * notice, so that the next writes are not denied. A server that cannot be reached is not waited for.
 */
export async function thaw(step: ReadOnlyStep): Promise<void> {
  const { scope, deps, ctx } = step;
  const client = deps.tenants.client(scope);
  const options = { signal: ctx.signal };
  await client.delete(kinds.ValidatingAdmissionPolicyBinding, { name: freezePolicy }, options);
  await client.delete(kinds.ValidatingAdmissionPolicy, { name: freezePolicy }, options);
  try {
    await firstDoubt(await podsOf(step), step, (answer) => answer !== 'denies');
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
  }
}

import { kinds } from '../../../../api/core/kinds.ts';
import type { Pod } from '../../../../api/core/kinds.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';
import { freezePolicy } from '../../../../api/names.ts';
import { sleep } from '../../../../runtime/clock.ts';
import type { Cluster } from '../../../../runtime/cluster.ts';
import { failureCode } from '../../../../runtime/describe-failure.ts';
import { ApiError, UnreachableError } from '../../../../runtime/errors.ts';
import { driversThatOpen } from '../../../../stores/drivers-that-open.ts';
import { freezeManifests, freezeProbes, isFreezeRefusal } from '../../components/freeze-policy.ts';
import type { FreezeProbe } from '../../components/freeze-policy.ts';
import { fieldManager } from '../../dependencies.ts';
import type { FreezeVisit } from './migration-visit.ts';
import { podsOf } from './pods.ts';

/** An API server looks for new policies once a second; a visit waits for two of these looks. */
const proof = { attempts: 80, pauseMs: 25 } as const;

/**
 * Has every API server of the tenant deny writes, and proves it by a write to each pod's own address. Undefined when all deny,
 * else which do not yet. A tenant without pods has nobody who writes.
 */
export async function freeze(visit: FreezeVisit): Promise<string | undefined> {
  const pods = await podsOf(visit);
  if (pods.length === 0) return undefined;
  const { scope, deps } = visit;
  await applyFreeze(deps.tenants.door(scope), visit);
  return proveFrozen(pods, visit);
}

async function applyFreeze(door: Cluster, { scope, ctx }: FreezeVisit): Promise<void> {
  const driver = scope.tcp.status?.storage?.migration?.source.driver;
  const [policy, binding] = freezeManifests({ leadersRenew: driversThatOpen.has(driver) });
  const options = { fieldManager, signal: ctx.signal };
  await door.apply(kinds.ValidatingAdmissionPolicy, policy, options);
  await door.apply(kinds.ValidatingAdmissionPolicyBinding, binding, options);
}

/**
 * Puts back what administrators of the tenant took away of the freeze: Kubernetes lets them, since policies are exempt from policies.
 * The old store is closed by a fence by then, so that nothing is lost there; what was written to the new one meanwhile is lost
 * if the move is undone. One that cannot be asked is asked again at the next look.
 */
export async function keepFrozen(visit: FreezeVisit): Promise<void> {
  const { scope, deps, ctx } = visit;
  const door = deps.tenants.door(scope);
  const [at, options] = [{ name: freezePolicy }, { signal: ctx.signal }];
  try {
    const [policy, binding] = await Promise.all([
      door.get(kinds.ValidatingAdmissionPolicy, at, options),
      door.get(kinds.ValidatingAdmissionPolicyBinding, at, options),
    ]);
    if (policy !== undefined && binding !== undefined) return;
    await applyFreeze(door, visit);
  } catch (error) {
    ctx.signal.throwIfAborted();
    if (error instanceof UnreachableError || error instanceof ApiError) return;
    throw error;
  }
  const message = `somebody deleted ${freezePolicy} in the tenant, which denies writes while the data moves: it is there again; what was written meanwhile is lost if the move is undone`;
  ctx.event('Warning', 'FreezeRestored', message);
}

/** Undefined when every one of these pods denies writes or answers nobody, else which does not. */
export async function proveFrozen(pods: readonly Pod[], visit: FreezeVisit): Promise<string | undefined> {
  return firstDoubt(pods, visit, (answer) => answer === 'denies');
}

async function firstDoubt(
  pods: readonly Pod[],
  visit: FreezeVisit,
  isWanted: (answer: string) => boolean,
): Promise<string | undefined> {
  const doubts = await Promise.all(pods.map((pod) => doubtAbout(pod, visit, isWanted)));
  return doubts.find((doubt) => doubt !== undefined);
}

/** Asks an API server again and again for a while; undefined once the answer is wanted, or there is none. */
async function doubtAbout(
  { metadata, status }: Pod,
  visit: FreezeVisit,
  isWanted: (answer: string) => boolean,
): Promise<string | undefined> {
  const { scope, deps, ctx } = visit;
  const { podIP = '' } = status ?? {};
  const name = metadata.name ?? '';
  // Without an address there is no way in, and a server that starts later finds the policy before it answers.
  if (podIP === '') return undefined;
  return deps.tenants.atPod(scope, podIP, async (door) => {
    let doubt: string | undefined;
    for (let attempt = 0; attempt < proof.attempts; attempt += 1) {
      if (attempt > 0) await sleep(deps.clock, proof.pauseMs, ctx.signal);
      const answer = await answerOf(door, probeOf(attempt), ctx.signal);
      if (isWanted(answer) || answer === 'silent') return undefined;
      doubt ??= answer;
    }
    return `the API server of pod ${name} ${doubt ?? ''}`;
  });
}

/** The probes by turns. */
function probeOf(attempt: number): FreezeProbe {
  return freezeProbes[attempt % freezeProbes.length] ?? freezeProbes[0];
}

/** How an API server takes a write that stores nothing. Throws `UnreachableError` unless the server itself is not there. */
async function answerOf(door: Cluster, probe: FreezeProbe, signal: AbortSignal): Promise<string> {
  const options = { dryRun: true, fieldManager, signal };
  try {
    if (probe.verb === 'create') await door.create(kindOf(probe.manifest), probe.manifest, options);
    else await door.patch(kinds[probe.kind], { name: probe.name }, { type: 'merge', body: probe.body }, options);
    return 'still takes writes';
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
 * Allows writes again; the binding goes first, since without it the policy says nothing. Every API server has a moment to learn
 * of it, so that whoever goes on from here is not denied. One that cannot be asked is not waited for.
 */
export async function thaw(visit: FreezeVisit): Promise<void> {
  const { scope, deps, ctx } = visit;
  const door = deps.tenants.door(scope);
  const options = { signal: ctx.signal };
  await door.delete(kinds.ValidatingAdmissionPolicyBinding, { name: freezePolicy }, options);
  await door.delete(kinds.ValidatingAdmissionPolicy, { name: freezePolicy }, options);
  try {
    await firstDoubt(await podsOf(visit), visit, (answer) => answer !== 'denies');
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
  }
}

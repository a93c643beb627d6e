import { annotations, finalizers } from '../../api/names.ts';
import { controlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import type { ControlPlanePool } from '../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { templateHash } from '../../api/steward/v1alpha1/pool/template-hash.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context, Controller, LastReconcile, ReconcileResult } from '../../runtime/reconcile/controller.ts';
import { access } from './access.ts';
import { createPrepared, listReserve, removePrepared } from './change-reserve.ts';
import type { Creation } from './change-reserve.ts';
import { claimsOf, demandFallsMs, isWaiting, recentClaims, wantedReady } from './demand.ts';
import type { Dependencies } from './dependencies.ts';
import { planReserve } from './plan.ts';
import type { Plan, Replacements } from './plan.ts';
import { nameProblem } from './prepared-manifest.ts';
import { claimedCount, preparedOf, unclaimedOf } from './reserve.ts';
import { deletingStatus, invalidStatus, poolStatus, replacementsOf } from './status.ts';
import { poolWatches } from './watches.ts';

/** What has changed between its reading and its deletion is read again: the change need not be one that the watch reports. In milliseconds. */
const contestedMs = 1000;

/** Holds as many control planes in reserve as a ControlPlanePool wants. */
export function controlPlanePoolController(deps: Dependencies): Controller<ControlPlanePool> {
  return {
    name: 'controlplanepool',
    kind: controlPlanePool,
    optional: true,
    access,
    finalizers: [finalizers.pool],
    concernsMany: true,
    watches: poolWatches,
    paused: ({ metadata }) =>
      metadata.annotations?.[annotations.paused] === undefined
        ? undefined
        : `the annotation ${annotations.paused} is set`,
    async reconcile(pool, ctx): Promise<ReconcileResult<ControlPlanePool>> {
      const problem = nameProblem(pool);
      if (problem !== undefined) return { status: invalidStatus(pool, problem, ctx.now) };
      const claims = claimsOf(pool, deps.claims());
      const recent = recentClaims(pool.status?.recentClaims ?? [], claims, ctx.now);
      const wanted = wantedReady(pool.spec, { recent, waiting: claims.filter(isWaiting).length });
      const found = await keepReserve(pool, wanted, { deps, ctx });
      const prepared = preparedOf(pool, found.tenants);
      const facts = {
        ...{ templateHash: templateHash(pool.spec.template), wanted, prepared, recent },
        ...{ claimed: claimedCount(pool, found.tenants), replaced: found.replaced },
        ...{ stalled: found.plan.stalled, refusal: found.creation.refusal, created: found.creation.created.length },
      };
      const falls = wanted > pool.spec.minReady ? demandFallsMs(recent, ctx.now) : undefined;
      const { next } = found.plan;
      return {
        status: poolStatus(pool, facts, ctx.now),
        ...soonest(
          falls,
          next === undefined ? undefined : Math.max(next - ctx.now.getTime(), 1000),
          found.isContested ? contestedMs : undefined,
        ),
        ...(found.creation.error !== undefined && { error: found.creation.error }),
      };
    },
    async finalize(pool, { signal, now }): Promise<LastReconcile<ControlPlanePool>> {
      // It has created nothing, and its name may be none that control planes can be found by.
      if (nameProblem(pool) !== undefined) return { finished: true };
      const left = unclaimedOf(pool, await listReserve(pool, deps, signal));
      if (left.length === 0) return { finished: true };
      const standing = left.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const removed = await Promise.all(standing.map((tcp) => removePrepared(tcp, deps, signal)));
      const names = left.map(({ metadata }) => metadata.name);
      const isContested = removed.includes(false);
      return {
        finished: false,
        status: deletingStatus(pool, names, now),
        ...(isContested && { afterMs: contestedMs }),
      };
    },
  };
}

/** The control planes of a pool after a reconcile. */
interface Kept {
  readonly tenants: readonly TenantControlPlane[];
  readonly plan: Plan;
  readonly replaced: Replacements;
  readonly creation: Creation;
  /** True if something changed between its reading and its deletion. */
  readonly isContested: boolean;
}

interface Means {
  readonly deps: Dependencies;
  readonly ctx: Context;
}

const nothing: Creation = { created: [] };

async function keepReserve(pool: ControlPlanePool, wanted: number, { deps, ctx }: Means): Promise<Kept> {
  const plan = (
    tenants: readonly TenantControlPlane[],
    refused = false,
  ): Pick<Kept, 'tenants' | 'replaced' | 'plan'> => {
    const prepared = preparedOf(pool, tenants);
    const replaced = replacementsOf(pool, prepared);
    return { tenants, replaced, plan: planReserve({ prepared, wanted, replaced, refused }, ctx.now.getTime()) };
  };
  const seen = plan(deps.tenants());
  if (!changes(seen.plan)) return { ...seen, creation: nothing, isContested: false };
  const listed = plan(await listReserve(pool, deps, ctx.signal));
  const creation = await createPrepared(pool, listed.plan.create, deps, ctx.signal);
  const { plan: next } = creation.refusal === undefined ? listed : plan(listed.tenants, true);
  const { gone, isContested } = await remove(listed.tenants, next, { deps, ctx });
  const isReplaced = next.replace !== undefined && gone.has(next.replace);
  const replaced = isReplaced ? { count: listed.replaced.count + 1, last: ctx.now.getTime() } : listed.replaced;
  const tenants = [...listed.tenants.filter(({ metadata }) => !gone.has(metadata.name)), ...creation.created];
  return { tenants, plan: next, replaced, creation, isContested };
}

const changes = ({ create, remove, replace }: Plan): boolean =>
  create > 0 || remove.length > 0 || replace !== undefined;

/** Deletes what a plan names. The names of what is gone or going are in `gone`. */
async function remove(
  tenants: readonly TenantControlPlane[],
  plan: Plan,
  { deps, ctx }: Means,
): Promise<{ readonly gone: ReadonlySet<string>; readonly isContested: boolean }> {
  const names = new Set([...plan.remove, ...(plan.replace === undefined ? [] : [plan.replace])]);
  const gone = new Set<string>();
  for (const tcp of tenants) {
    const { name } = tcp.metadata;
    if (names.has(name) && (await removePrepared(tcp, deps, ctx.signal))) gone.add(name);
  }
  return { gone, isContested: gone.size < names.size };
}

function soonest(...waits: readonly (number | undefined)[]): { readonly afterMs?: number } {
  const known = waits.filter((one) => one !== undefined);
  return known.length === 0 ? {} : { afterMs: Math.min(...known) };
}

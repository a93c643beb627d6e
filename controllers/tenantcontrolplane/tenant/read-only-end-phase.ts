import type { KindRef } from '../../../api/meta.ts';
import { freezePolicy } from '../../../api/names.ts';
import { isFirstSpec } from '../../../api/steward/v1alpha1/is-first-spec.ts';
import { restoreMarkOf } from '../../../api/steward/v1alpha1/backup/restore-mark.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import type { MigrationStatus } from '../../../api/steward/v1alpha1/migration-status.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { versionWithoutPolicies } from '../datastore/migration/read-only-policy.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { policyKinds } from '../shared/tenant-kinds.ts';
import { recheckMs } from './tenant-access.ts';

const fact = 'read-only-end-checked';

/** For so long after a migration its last requests may well be under way, and the next check comes sooner. In milliseconds. */
const unsettledMs = 2 * 60_000;
const soonMs = 30_000;

/** Until the next check, in milliseconds; undefined if the usual ones are enough. */
function untilNext(migration: MigrationStatus | undefined, now: Date): number | undefined {
  const { finishedAt } = migration ?? {};
  const sinceMs = finishedAt === undefined ? Infinity : now.getTime() - Date.parse(finishedAt);
  return sinceMs < unsettledMs ? soonMs : undefined;
}

/**
 * Allows writes that a migration has denied. A request to deny them may take effect after its sender has given up, even after the
 * migration, and data that was backed up meanwhile contains the policy: without this, the tenant would stay read-only.
 */
export async function readOnlyEnd(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, versions } = scope;
  const { uid } = tcp.metadata;
  const migration = tcp.status?.storage?.migration;
  const isNew = isFirstSpec(tcp) && migration === undefined && restoreMarkOf(tcp) === undefined;
  if (isNew || versionWithoutPolicies(versions) !== undefined) return { is: 'done' };
  if (isUnderWay(migration)) {
    deps.memory.forget(uid, fact);
    return { is: 'done' };
  }
  const afterMs = untilNext(migration, ctx.now);
  const now = ctx.now.getTime();
  const last = Number(deps.memory.recall(uid, fact) ?? Number.NaN);
  if (now - last < (afterMs ?? recheckMs)) return { is: 'done', afterMs };
  await removePolicy(scope, deps, ctx);
  deps.memory.remember(uid, fact, String(now));
  return { is: 'done', afterMs };
}

/** Without its binding a policy has no effect. */
const bindingFirst: readonly KindRef[] = policyKinds.toReversed();

/** Deletes the binding and the policy. */
async function removePolicy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<void> {
  const client = deps.tenants.client(scope);
  const { signal } = ctx;
  let isRemoved = false;
  for (const kind of bindingFirst) {
    const found = await client.get(kind, { name: freezePolicy }, { signal });
    if (found === undefined) continue;
    // Another manager may have begun a migration since: what that has created is another object.
    await client.delete(kind, { name: freezePolicy }, { uid: found.metadata.uid, signal });
    isRemoved = true;
  }
  if (!isRemoved) return;
  const message = `ValidatingAdmissionPolicy ${freezePolicy}, which denies writes during a migration, was there without a migration and has been deleted`;
  ctx.event('Warning', 'WritesAllowedAgain', message);
}

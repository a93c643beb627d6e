import { isFirstSpec } from '../../../api/steward/v1alpha1/is-first-spec.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { firstMinorWithPolicies, versionWithoutPolicies } from '../datastore/migration/read-only-policy.ts';
import { writePermissionsManifests } from './write-permissions-policy.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { policyKinds } from '../shared/tenant-kinds.ts';

const component = 'write-permissions';

const fact = 'denial-put-off-since';
/** How long a failing add-on, which could not be created later, keeps writes allowed, in milliseconds. */
const patienceMs = 60_000;
const lookAgainMs = 2_000;

/** True while an add-on that was never created may still be created. */
function waitsForAddons({ tcp, addons }: Readonly<Scope>, deps: Dependencies, { now }: Context): boolean {
  const { uid } = tcp.metadata;
  const isMissing = deps.addons.some(
    ({ name }) =>
      tcp.spec.addons[name] !== undefined &&
      addons[name]?.isInside !== true &&
      tcp.status?.addons?.[name]?.enabled !== true,
  );
  if (!isMissing) {
    deps.memory.forget(uid, fact);
    return false;
  }
  const since = deps.memory.recall(uid, fact) ?? String(now.getTime());
  deps.memory.remember(uid, fact, since);
  return now.getTime() - Number(since) < patienceMs;
}

/**
 * Allows writes that the spec no longer denies, before anything is written inside the tenant. Policies are exempt from
 * policies, so this always works.
 */
export async function allowWrites(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const never = isFirstSpec(tcp) || versionWithoutPolicies(scope.versions) !== undefined;
  if (never || writePermissionsManifests(tcp).length > 0) return { is: 'done' };
  await deps.tenants.apply(scope, { component, manifests: [], prunes: policyKinds }, ctx);
  return { is: 'done' };
}

/** Denies the writes that the spec denies, once everything that the tenant needs has been written, as far as possible. */
export async function denyWrites(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const manifests = writePermissionsManifests(tcp);
  if (manifests.length === 0) return { is: 'done' };
  const tooOld = versionWithoutPolicies(scope.versions);
  if (tooOld !== undefined) {
    const message = `spec.writePermissions needs Kubernetes 1.${firstMinorWithPolicies} or later, but ${tooOld} is running: upgrade, or remove the field`;
    return { is: 'waiting', reason: 'PoliciesNotServed', message };
  }
  if (waitsForAddons(scope, deps, ctx)) {
    const message = 'writes will be denied once the add-ons have been created, but after one minute at most';
    return { is: 'done', message, afterMs: lookAgainMs };
  }
  await deps.tenants.apply(scope, { component, manifests, prunes: [] }, ctx);
  return { is: 'done', learned: { writesDenied: true } };
}

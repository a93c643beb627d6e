import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { canFreeze, firstMinorWithPolicies } from '../components/freeze-policy.ts';
import { writePermissionsManifests } from '../components/write-permissions-policy.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { policyKinds } from '../tenant-kinds.ts';

const component = 'write-permissions';

/**
 * Allows again what the spec denies no more, before anything is written inside the tenant. Policies are exempt from policies, so
 * that this works whatever is denied.
 */
export async function allowWrites(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const never = tcp.metadata.generation === 1 || !canFreeze(tcp);
  if (never || writePermissionsManifests(tcp).length > 0) return { is: 'done' };
  await deps.tenants.apply(scope, { component, manifests: [], prunes: policyKinds }, ctx);
  return { is: 'done' };
}

/** Denies what the spec wants denied, after all that the tenant needs is in it. */
export async function denyWrites(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const manifests = writePermissionsManifests(tcp);
  if (manifests.length === 0) return { is: 'done' };
  if (!canFreeze(tcp)) {
    const message = `spec.writePermissions needs Kubernetes 1.${firstMinorWithPolicies} or later, and spec.kubernetes.version is ${tcp.spec.kubernetes.version}: upgrade, or take it out`;
    return { is: 'waiting', reason: 'PoliciesNotServed', message };
  }
  await deps.tenants.apply(scope, { component, manifests, prunes: [] }, ctx);
  return { is: 'done', learned: { writesDenied: true } };
}

import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { canFreeze, firstMinorWithPolicies, servingVersion } from '../components/freeze-policy.ts';
import { writePermissionsManifests } from '../components/write-permissions-policy.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { policyKinds } from '../tenant-kinds.ts';

const component = 'write-permissions';

const fact = 'denial-put-off-since';
/** A failure that passes, of add-ons that could not be made later; a lasting one does not keep writes allowed. */
const patienceMs = 60_000;
const lookAgainMs = 2_000;

/** True while an add-on that was never made may still be. */
function waitsForAddons(
  { tcp, coreDNS, kubeProxy }: Readonly<Scope>,
  { memory }: Dependencies,
  { now }: Context,
): boolean {
  const { uid = '' } = tcp.metadata;
  const { coreDNS: wantsDNS, kubeProxy: wantsProxy } = tcp.spec.addons;
  const before = tcp.status?.addons;
  const isMissing =
    (wantsDNS !== undefined && coreDNS === undefined && before?.coreDNS?.enabled !== true) ||
    (wantsProxy !== undefined && kubeProxy === undefined && before?.kubeProxy?.enabled !== true);
  if (!isMissing) return false;
  const since = memory.recall(uid, fact) ?? String(now.getTime());
  memory.remember(uid, fact, since);
  return now.getTime() - Number(since) < patienceMs;
}

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

/** Denies what the spec wants denied, after all that the tenant needs is in it, as far as that could be written. */
export async function denyWrites(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const manifests = writePermissionsManifests(tcp);
  if (manifests.length === 0) return { is: 'done' };
  if (!canFreeze(tcp)) {
    const message = `spec.writePermissions needs Kubernetes 1.${firstMinorWithPolicies} or later, and ${servingVersion(tcp)} runs: upgrade, or take it out`;
    return { is: 'waiting', reason: 'PoliciesNotServed', message };
  }
  // One that is about to be made could not be any more.
  if (scope.tcpProxy === 'recorded') return { is: 'done' };
  if (waitsForAddons(scope, deps, ctx)) {
    const message = 'writes are denied when CoreDNS and kube-proxy have been made, in a minute at the latest';
    return { is: 'done', message, afterMs: lookAgainMs };
  }
  await deps.tenants.apply(scope, { component, manifests, prunes: [] }, ctx);
  return { is: 'done', learned: { writesDenied: true } };
}

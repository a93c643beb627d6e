import type { Deployment } from '../../../api/core/kinds.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import { argumentValue } from '../shared/argument-value.ts';
import { kubernetesEndpoints } from './kubernetes-endpoints.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { wantedReplicas } from '../shared/replicas.ts';
import { isRolling } from '../shared/state.ts';
import { applied } from '../shared/inside-tenant.ts';
import { deniesWrites } from '../upgrade/writes-in-tenant.ts';

const component = 'kubernetes-endpoints';
const fact = 'servers-that-keep-the-service';

/** The time within which an API server removes its address after the termination of its pod began, in milliseconds. */
const endingMs = 60_000;
/** How soon the Service is checked again in the meantime, in milliseconds. */
const lookAgainMs = 3_000;

/**
 * Maintains the endpoints of the Service `kubernetes` inside the tenant, also while pods of another version replace the old ones:
 * those that still maintain it themselves remove the endpoints when they end.
 */
export async function kubernetesService(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  if (deniesWrites(scope)) return { is: 'done', message: 'waiting for the migration of the data to finish' };
  const { tcp } = scope;
  const isOthers = deps.addons.some(
    (addon) => addon.keepsKubernetesService === true && tcp.spec.addons[addon.name] !== undefined,
  );
  const manifests = isOthers ? [] : kubernetesEndpoints({ tcp, endpoint: needed(scope.endpoint, 'endpoint') });
  if (manifests.length === 0) {
    deps.tenants.leave(scope, component);
    return { is: 'done' };
  }
  const isOverdue = mayBeErased(scope, deps, ctx);
  const set = { component, manifests, prunes: [], isBare: true, isOverdue };
  const waiting = await applied(scope, deps.tenants.apply(scope, set, ctx));
  return waiting ?? (isOverdue ? { is: 'done', afterMs: lookAgainMs } : { is: 'done' });
}

/** True when an API server of this Deployment maintains the Service itself, as older ones do. */
function keepsService(deployment: Deployment | undefined): boolean {
  const containers = deployment?.spec?.template.spec?.containers ?? [];
  const args = containers.find(({ name }) => name === 'kube-apiserver')?.args;
  return args !== undefined && argumentValue(args, 'endpoint-reconciler-type') !== 'none';
}

/** While API servers that maintain the Service are replaced, and for as long as the last of them may take to end. */
function mayBeErased(scope: Readonly<Scope>, { memory }: Dependencies, { now }: Context): boolean {
  const { uid } = scope.tcp.metadata;
  const seen = Number(memory.recall(uid, fact) ?? Number.NEGATIVE_INFINITY);
  const isRecent = now.getTime() - seen < endingMs;
  const goesOn = isRecent && isRolling(scope.deployment, wantedReplicas(scope.tcp, scope.deployment));
  if (keepsService(scope.observed.deployment) || goesOn) memory.remember(uid, fact, String(now.getTime()));
  else if (!isRecent) return false;
  return true;
}

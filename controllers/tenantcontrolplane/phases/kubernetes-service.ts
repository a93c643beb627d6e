import type { Deployment } from '../../../api/core/kinds.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { argumentValue } from '../components/argument-value.ts';
import { kubernetesEndpoints } from '../components/kubernetes-endpoints.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { isRolling } from '../state.ts';
import { applied, deniesWrites } from './inside-tenant.ts';

const component = 'kubernetes-endpoints';
const fact = 'servers-that-keep-the-service';

/** After its pod was asked to end, an API server takes its address away within this time. */
const endingMs = 60_000;
/** How soon the Service is looked after again meanwhile. */
const lookAgainMs = 3_000;

/**
 * Leads the Service `kubernetes` inside the tenant to its API servers, also while pods of another version replace the old ones: those
 * that still keep it themselves take it away when they end.
 */
export async function kubernetesService(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  if (deniesWrites(scope)) return { is: 'done', message: 'follows when the data has moved' };
  const manifests = kubernetesEndpoints({ tcp: scope.tcp, endpoint: needed(scope.endpoint, 'endpoint') });
  if (manifests.length === 0) {
    deps.tenants.leave(scope, component);
    return { is: 'done' };
  }
  const isOverdue = mayBeErased(scope, deps, ctx);
  const set = { component, manifests, prunes: [], isBare: true, isOverdue };
  const waiting = await applied(scope, deps.tenants.apply(scope, set, ctx));
  return waiting ?? (isOverdue ? { is: 'done', afterMs: lookAgainMs } : { is: 'done' });
}

/** True when a server of this Deployment keeps the Service itself, as those of before do. */
function keepsService(deployment: Deployment | undefined): boolean {
  const containers = deployment?.spec?.template.spec?.containers ?? [];
  const args = containers.find(({ name }) => name === 'kube-apiserver')?.args;
  return args !== undefined && argumentValue(args, 'endpoint-reconciler-type') !== 'none';
}

/** While servers that keep the Service are replaced, and for as long as the last of them may take to end. */
function mayBeErased(scope: Readonly<Scope>, { memory }: Dependencies, { now }: Context): boolean {
  const { uid = '' } = scope.tcp.metadata;
  const seen = Number(memory.recall(uid, fact) ?? Number.NEGATIVE_INFINITY);
  const isRecent = now.getTime() - seen < endingMs;
  const goesOn = isRecent && isRolling(scope.deployment, scope.tcp.spec.controlPlane.deployment.replicas);
  if (keepsService(scope.observed.deployment) || goesOn) memory.remember(uid, fact, String(now.getTime()));
  else if (!isRecent) return false;
  return true;
}

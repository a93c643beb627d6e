import { kinds } from '../../../../api/core/kinds.ts';
import type { ConfigMap, Secret } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { agentAddress } from './agent-address.ts';
import { agentKinds } from './agent-kinds.ts';
import { konnectivityAgentManifests } from './agent-manifests.ts';
import { egressComponent, egressConfigMap, egressData } from './egress-selector.ts';
import { trustingPods } from '../../certificates/rotation/restart-on-trust-change.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { isRolling } from '../../shared/state.ts';
import { isOurs, isUsedByPods, leavingMs, removeOwn } from '../addon-leftovers.ts';
import { isOnTheWay } from '../../endpoint/previous-endpoint.ts';
import { applied, putOff } from '../../shared/inside-tenant.ts';
import { targetVersion } from '../../upgrade/upgrade-decision.ts';

const component = 'konnectivity';

const gone: Outcome<Scope> = { is: 'done', learned: { konnectivityGone: true } };

const agentsGoLater = 'the konnectivity agents will be removed once no pod needs them';

/**
 * The configuration that sends kube-apiserver through the tunnel. It is created after the Secrets of the konnectivity server and
 * deleted before them, so that these Secrets show whether anything of the add-on is left.
 */
export async function konnectivityEgress(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  if (tcp.spec.addons.konnectivity === undefined) return { is: 'done' };
  await deps.apply<ConfigMap>(scope, egressConfigMap(tcp), ctx);
  const { konnectivityEgress: name } = tenantObjects(tcp.metadata.name ?? '');
  return { is: 'done', learned: { konnectivityEgress: { name, checksum: checksum(egressData()) } } };
}

/** True while the management cluster holds a Secret of the add-on; the Secrets are deleted last. */
function isLeft({ tcp, observed }: Readonly<Scope>): boolean {
  const { konnectivityCertificate, konnectivityKubeconfig } = tenantObjects(tcp.metadata.name ?? '');
  return [konnectivityCertificate, konnectivityKubeconfig].some((name) => isOurs(tcp, observed.secrets.get(name)));
}

/** True while the endpoint changes and existing agents still dial the previous one, which stands only in their own manifests. */
function isAwaitingEndpoint(scope: Readonly<Scope>): boolean {
  return isOnTheWay(scope) && scope.tcp.status?.addons?.konnectivity?.agent !== undefined;
}

/**
 * True while agents may be in the tenant: the Secrets show it, or the status if the Secrets were deleted while the tenant slept.
 */
function mayHaveAgents(scope: Readonly<Scope>): boolean {
  return isLeft(scope) || scope.tcp.status?.addons?.konnectivity?.agent !== undefined;
}

/**
 * Applies the agents as wanted. Those of a removed add-on keep running until no API server needs them; what the pods mounted for
 * the tunnel is removed after them.
 */
export async function konnectivity(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const addon = tcp.spec.addons.konnectivity;
  if (addon === undefined && !mayHaveAgents(scope)) return gone;
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', message: later };
  if (addon === undefined) {
    if (isRolling(scope.deployment, tcp.spec.controlPlane.deployment.replicas)) {
      return { is: 'done', message: agentsGoLater };
    }
    if (await isUsedByPods(scope, egressComponent, deps, ctx))
      return { is: 'done', message: agentsGoLater, afterMs: leavingMs };
    const set = { component, manifests: [], prunes: agentKinds };
    const waiting = await applied(scope, deps.tenants.apply(scope, set, ctx));
    if (waiting !== undefined) return waiting;
    await removeOwnObjects(scope, deps, ctx);
    return gone;
  }
  if (isAwaitingEndpoint(scope)) {
    return { is: 'done', message: 'the agents will switch to the new endpoint when all other clients do' };
  }
  const service = needed(scope.service, 'service');
  const address = agentAddress(tcp, { endpoint: needed(scope.target, 'target'), service, port: addon.server.port });
  if (address === undefined) {
    const message = `Service ${service.metadata.name ?? ''} has no node port for konnectivity agents yet`;
    return { is: 'waiting', reason: 'NotExposed', message };
  }
  // A workload of the other kind is left over from the other mode.
  const manifests = trustingPods(tcp, konnectivityAgentManifests(tcp, { address, version: targetVersion(scope) }));
  const set = { component, manifests, prunes: agentKinds };
  const waiting = await applied(scope, deps.tenants.apply(scope, set, ctx));
  return waiting ?? { is: 'done', learned: { konnectivityAgent: addon.agent.mode } };
}

/**
 * Removes the objects that pods mounted for the tunnel from the management cluster while the tenant sleeps, once no pod is left.
 * The agents inside the tenant cannot be removed then; the status remembers them.
 */
export async function konnectivityOfSleeper(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const isAsleep = tcp.spec.controlPlane.deployment.replicas === 0;
  if (!isAsleep || tcp.spec.addons.konnectivity !== undefined || !isLeft(scope)) return { is: 'done' };
  if (await isUsedByPods(scope, egressComponent, deps, ctx)) return { is: 'done', afterMs: leavingMs };
  await removeOwnObjects(scope, deps, ctx);
  return { is: 'done' };
}

/** Removes what pods mounted for the tunnel: ConfigMap and Secrets, the Secrets last. */
async function removeOwnObjects(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<void> {
  const names = tenantObjects(scope.tcp.metadata.name ?? '');
  await removeOwn<ConfigMap>(scope, { kind: kinds.ConfigMap, name: names.konnectivityEgress }, deps, ctx);
  for (const name of [names.konnectivityCertificate, names.konnectivityKubeconfig]) {
    await removeOwn<Secret>(scope, { kind: kinds.Secret, name }, deps, ctx);
  }
}

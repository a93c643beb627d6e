import type { Secret } from '../../../../api/core/kinds.ts';
import { kinds } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { nodeManifestKinds, nodeManifests } from './node-manifests.ts';
import { trustdComponent } from './trustd-credentials.ts';
import { trustdPort } from './trustd-container.ts';
import { trustdAdvice, trustdEndpoint } from './trustd-endpoint.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { isRolling } from '../../shared/state.ts';
import { isOurs, isUsedByPods, leavingMs, removeOwn } from '../addon-leftovers.ts';
import { isOnTheWay } from '../../endpoint/previous-endpoint.ts';
import { applied, putOff } from '../../shared/inside-tenant.ts';

const component = 'worker-bootstrap';

/** Until the next reconcile, in milliseconds: by then the status records what this one found out. */
const soonMs = 100;

/** True while the management cluster holds the Secret of the add-on, which is deleted last. */
function isLeft({ tcp, observed }: Readonly<Scope>): boolean {
  return isOurs(tcp, observed.secrets.get(tenantObjects(tcp.metadata.name ?? '').trustdCredentials));
}

/** Applies the objects that workers need inside the tenant, and removes them and their Secret when the add-on is removed. */
export async function workerBootstrap(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const isWanted = tcp.spec.addons.workerBootstrap !== undefined;
  if (!isWanted && !isLeft(scope)) return { is: 'done', learned: { workerBootstrapGone: true } };
  const later = putOff(scope);
  if (later !== undefined) return { is: 'done', message: later };
  const set = { component, manifests: nodeManifests(tcp), prunes: nodeManifestKinds };
  const waiting = await applied(scope, deps.tenants.apply(scope, set, ctx));
  if (waiting !== undefined) return waiting;
  if (!isWanted) return removeCredentials(scope, deps, ctx);
  if (trustdPort(tcp) === undefined) return { is: 'done' };
  if (isOnTheWay(scope)) {
    return { is: 'done', message: 'workers will switch to trustd at the new endpoint when all other clients do' };
  }
  const service = needed(scope.service, 'service');
  const at = trustdEndpoint(tcp, needed(scope.endpoint, 'endpoint'), service);
  if (at === undefined) {
    const message = `Service ${service.metadata.name ?? ''} has no node port for trustd yet`;
    return { is: 'waiting', reason: 'NotExposed', message };
  }
  return { is: 'done', learned: { trustdEndpoint: at }, message: trustdAdvice(tcp) };
}

/** Removes what pods mounted for trustd, once no pod uses it. */
async function removeCredentials(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const gone = { is: 'done', learned: { workerBootstrapGone: true } } as const;
  // If the status still recorded the Secret, it would be missed when the add-on is enabled again.
  if (tcp.status?.addons?.workerBootstrap?.credentials !== undefined) return { ...gone, afterMs: soonMs };
  const message = 'the credentials of trustd will be removed once no pod needs them';
  if (isRolling(scope.deployment, tcp.spec.controlPlane.deployment.replicas)) return { ...gone, message };
  if (await isUsedByPods(scope, trustdComponent, deps, ctx)) return { ...gone, message, afterMs: leavingMs };
  const { trustdCredentials: name } = tenantObjects(tcp.metadata.name ?? '');
  await removeOwn<Secret>(scope, { kind: kinds.Secret, name }, deps, ctx);
  return gone;
}

import type { Secret } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { tenantObjects } from '../../../api/names.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { nodeManifestKinds, nodeManifests } from '../components/worker-bootstrap/node-manifests.ts';
import { trustdComponent } from '../components/worker-bootstrap/trustd-credentials.ts';
import { trustdPort } from '../components/worker-bootstrap/trustd-container.ts';
import { trustdAdvice, trustdEndpoint } from '../components/worker-bootstrap/trustd-endpoint.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { isRolling } from '../state.ts';
import { isOurs, isUsedByPods, leavingMs, removeOwn } from './addon-leftovers.ts';
import { isOnTheWay } from './former-endpoint.ts';
import { applied, putOff } from './inside-tenant.ts';

const component = 'worker-bootstrap';

/** Until the next visit, in milliseconds: what this one learned is on record by then. */
const soonMs = 100;

/** True while the management cluster holds the Secret of the add-on, which is the last that goes. */
function isLeft({ tcp, observed }: Readonly<Scope>): boolean {
  return isOurs(tcp, observed.secrets.get(tenantObjects(tcp.metadata.name ?? '').trustdCredentials));
}

/** What workers need inside the tenant, as asked for; of an add-on that is taken out nothing stays. */
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
  if (!isWanted) return { is: 'done', learned: { workerBootstrapGone: true } };
  if (trustdPort(tcp) === undefined) return { is: 'done' };
  if (isOnTheWay(scope)) {
    return { is: 'done', message: 'workers are sent to trustd at the new endpoint when all others are' };
  }
  const service = needed(scope.service, 'service');
  const at = trustdEndpoint(tcp, needed(scope.endpoint, 'endpoint'), service);
  if (at === undefined) {
    const message = `Service ${service.metadata.name ?? ''} has no node port for trustd yet`;
    return { is: 'waiting', reason: 'NotExposed', message };
  }
  return { is: 'done', learned: { trustdEndpoint: at }, message: trustdAdvice(tcp) };
}

/** Removes what pods mounted for trustd, once none has it. */
export async function workerBootstrapRemoval(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const { tcp } = scope;
  const isWanted = tcp.spec.addons.workerBootstrap !== undefined;
  if (isWanted || scope.workerBootstrapGone !== true || !isLeft(scope)) return { is: 'done' };
  // One that is still on record would be missed when the add-on comes back.
  if (tcp.status?.addons?.workerBootstrap?.credentials !== undefined) return { is: 'done', afterMs: soonMs };
  const message = 'the credentials of trustd go when no pod needs them any more';
  if (isRolling(scope.deployment, tcp.spec.controlPlane.deployment.replicas)) return { is: 'done', message };
  if (await isUsedByPods(scope, trustdComponent, deps, ctx)) return { is: 'done', message, afterMs: leavingMs };
  const { trustdCredentials: name } = tenantObjects(tcp.metadata.name ?? '');
  await removeOwn<Secret>(scope, { kind: kinds.Secret, name }, deps, ctx);
  return { is: 'done' };
}

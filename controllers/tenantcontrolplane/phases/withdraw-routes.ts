import { isIpAddress, splitHostPort } from '../../../kubeadm/networks.ts';
import type { Making } from './making-routes.ts';
import { makeRoute } from './making-routes.ts';
import { isKnown, removeRoute, routesOf } from './routes.ts';

/**
 * Takes the host name that the spec asks for out of the routes of that way, if it is in them at all. A host name that is in use
 * until now stays led.
 */
export async function withdrawRoutes(making: Making): Promise<void> {
  const { scope, publication } = making;
  const routes = routesOf(scope.tcp).filter((route) => route.by === publication.by && isKnown(route, making));
  if (routes.length === 0) return;
  const recorded = scope.tcp.status?.controlPlaneEndpoint ?? '';
  const inUse = recorded === '' ? publication.host : splitHostPort(recorded, 'status.controlPlaneEndpoint').host;
  if (inUse === publication.host || isIpAddress(inUse)) {
    await Promise.all(routes.map((route) => removeRoute(route, making)));
    return;
  }
  await makeRoute({ ...making, publication: { ...publication, host: inUse }, keepsFormer: false });
}

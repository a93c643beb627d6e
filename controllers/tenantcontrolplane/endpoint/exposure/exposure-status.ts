import { gatewayGroup, gateway as gatewayKind } from '../../../../api/gateway-api/kinds.ts';
import type { GatewayCondition, RouteParentStatus } from '../../../../api/gateway-api/kinds.ts';
import type { Ingress } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type {
  TenantControlPlane,
  TenantControlPlaneStatus,
} from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Publication } from './exposure.ts';
import { accessPoints } from './route-status.ts';
import type { RouteFacts } from './route-status.ts';

type Resources = NonNullable<TenantControlPlaneStatus['kubernetesResources']>;

/** The part of the status about the routes of a control plane. */
export type PublicationStatus = Pick<Resources, 'ingress' | 'gateway'>;

/** The object as the API server stores it: undefined fields are absent. */
const plain = (value: object): unknown => JSON.parse(JSON.stringify(value));

/** An Ingress, or Traefik's route, which has no address in its status. */
export function ingressStatus(tcp: TenantControlPlane, ingress: Ingress | undefined): PublicationStatus {
  const { name, namespace } = tcp.metadata;
  const entries = ingress?.status?.loadBalancer?.ingress?.map(({ hostname, ip, ports }) => ({
    hostname,
    ip,
    ports: ports?.map(({ port, protocol, error }) => ({ port, protocol, error })),
  }));
  const status = {
    name: tenantObjects(name).ingress,
    namespace,
    ...(entries !== undefined && { loadBalancer: { ingress: entries } }),
  };
  return { ingress: plain(status) as NonNullable<PublicationStatus['ingress']> };
}

function parentStatus({ parentRef, controllerName, conditions }: RouteParentStatus): object {
  const { group = gatewayGroup, kind = gatewayKind.kind, namespace, name, sectionName, port } = parentRef;
  return {
    parentRef: { group, kind, namespace, name, sectionName, port },
    controllerName,
    conditions: conditions?.map(
      ({ type, status, reason, message, lastTransitionTime, observedGeneration }: GatewayCondition) => ({
        type,
        status,
        reason,
        message,
        lastTransitionTime,
        observedGeneration,
      }),
    ),
  };
}

/** A TLSRoute with the status that the Gateways gave it. */
export function gatewayStatus(facts: RouteFacts, { host, port }: Publication): PublicationStatus {
  const points = accessPoints(facts, { host, port });
  const parents = (facts.route.status?.parents ?? []).map(parentStatus);
  const status = {
    parents,
    routeRef: { name: facts.route.metadata.name },
    ...(points.length > 0 && { accessPoints: points }),
  };
  return { gateway: plain(status) as NonNullable<PublicationStatus['gateway']> };
}

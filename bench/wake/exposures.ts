import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import { gatewayClass, ingressClass } from '../../e2e/framework/traefik.ts';
import type { EndpointType } from './wake-rows.ts';

const gatewayName = 'edge';
const inside = { service: { serviceType: 'ClusterIP' } };

/** `spec.controlPlane` of a tenant that is reached in this way. */
export const exposures: Readonly<Record<EndpointType, Readonly<Record<string, unknown>>>> = {
  ClusterIP: inside,
  NodePort: { service: { serviceType: 'NodePort' } },
  LoadBalancer: { service: { serviceType: 'LoadBalancer' } },
  Ingress: {
    ...inside,
    ingress: {
      hostname: 'by-ingress.tenants.example',
      ingressClassName: ingressClass,
      controllerType: 'nginx',
    },
  },
  Gateway: { ...inside, gateway: { hostname: 'by-gateway.tenants.example', parentRefs: [{ name: gatewayName }] } },
};

/** Whether calls reach it through Traefik, by its host name. */
export const isRouted = (endpoint: EndpointType): boolean => endpoint === 'Ingress' || endpoint === 'Gateway';

/** The Gateway that leads to tenants of a namespace. */
export function edgeGateway(namespace: string): PlainObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: { name: gatewayName, namespace },
    spec: {
      gatewayClassName: gatewayClass,
      listeners: [{ name: 'kube-apiserver', port: 6443, protocol: 'TLS', tls: { mode: 'Passthrough' } }],
    },
  };
}

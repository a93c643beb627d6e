import type { EndpointSlice, Service } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { activatorComponent, annotations, ports, stewardGroup, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { ownedManifest } from '../../shared/owned-manifest.ts';
import { sliceManagerLabel } from './slice-of-selector.ts';

/** A pod of the activator that is ready. */
export interface ActivatorPod {
  readonly addresses: readonly string[];
  readonly nodeName?: string | undefined;
}

/** The endpoints of a slice. An API server answers with null where there are none. */
export function endpointsOf({ endpoints }: Pick<EndpointSlice, 'endpoints'>): NonNullable<EndpointSlice['endpoints']> {
  return endpoints ?? [];
}

/** Endpoints that are ready, of a slice with the port of kube-apiserver. */
export function readyEndpoints(slice: EndpointSlice): NonNullable<EndpointSlice['endpoints']> {
  if (slice.ports?.some(({ name }) => name === ports.apiServer) !== true) return [];
  return endpointsOf(slice).filter(({ conditions }) => conditions?.ready !== false);
}

/** The pods of the activator that are ready, by the slices of its Service. */
export function activatorPods(slices: readonly EndpointSlice[]): readonly ActivatorPod[] {
  const ready = slices.flatMap(endpointsOf).filter(({ conditions }) => conditions?.ready !== false);
  return ready.map(({ addresses, nodeName }) => ({ addresses, nodeName })).sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

const text = ({ addresses }: ActivatorPod): string => addresses.join(' ');

/**
 * The slices that lead calls of a tenant to the activator, beside those of its Service's selector: one for each address family of the
 * Service. They stay without endpoints while the tenant is awake, because they have what is known of its nodes.
 */
export function activatorSlices(
  tcp: TenantControlPlane,
  { service, port, pods }: { readonly service: Service; readonly port: number; readonly pods: readonly ActivatorPod[] },
): readonly Manifest[] {
  const name = tenantObjects(tcp.metadata.name).service;
  return (service.spec?.ipFamilies ?? ['IPv4']).map((family) => {
    const endpoints = pods.flatMap(({ addresses, nodeName }) => {
      const address = addresses.find((one) => one.includes(':') === (family === 'IPv6'));
      if (address === undefined) return [];
      return [{ addresses: [address], conditions: { ready: true }, ...(nodeName !== undefined && { nodeName }) }];
    });
    return ownedManifest(tcp, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      name: activatorSlice(name, family),
      component: activatorComponent,
      labels: { 'kubernetes.io/service-name': name, [sliceManagerLabel]: stewardGroup },
      annotations: { [annotations.passedEarly]: String(isPassedEarly(tcp)) },
      body: { addressType: family, endpoints, ports: [{ name: ports.apiServer, protocol: 'TCP', port }] },
    });
  });
}

/**
 * True if calls are passed on as soon as the API server of a pod is ready. An author's own container may be needed to answer them, such as
 * one that decides who may do what: then the whole pod has to be ready.
 */
function isPassedEarly({ spec }: TenantControlPlane): boolean {
  const { additionalContainers = [], additionalInitContainers = [] } = spec.controlPlane.deployment;
  return additionalContainers.length === 0 && additionalInitContainers.length === 0;
}

/** Name of the slice of a Service that leads to the activator. */
export function activatorSlice(service: string, family = 'IPv4'): string {
  return `${service}-${family.toLowerCase()}-activator`;
}

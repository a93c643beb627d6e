import type { Service } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { stewardGroup, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { OpenServer } from '../../shared/addon-server.ts';
import { ownedManifest } from '../../shared/owned-manifest.ts';
import { sliceManagerLabel } from '../../sleep/waking/slice-of-selector.ts';
import type { RolloutPod } from './rollout-facts.ts';

/** Value of the component label on the slices. */
export const earlyComponent = 'rollout';

/**
 * EndpointSlices that let clients of an add-on's server in the pods reach new pods before the Service is switched: what dials in to stay,
 * such as a konnectivity agent, has to be there when calls arrive. kube-proxy adds the slices of one Service up.
 */
export function earlyEndpoints(
  tcp: TenantControlPlane,
  {
    service,
    servers,
    pods,
  }: { readonly service: Service; readonly servers: readonly OpenServer[]; readonly pods: readonly RolloutPod[] },
): readonly Manifest[] {
  const name = tenantObjects(tcp.metadata.name).service;
  const ports = servers.map(({ server, port }) => ({ name: server.portName, protocol: 'TCP', port }));
  return (service.spec?.ipFamilies ?? ['IPv4']).flatMap((family) => {
    const endpoints = pods.flatMap((pod) => {
      const address = pod.addresses.find((one) => one.includes(':') === (family === 'IPv6'));
      if (address === undefined) return [];
      const targetRef = { kind: 'Pod', name: pod.name, namespace: tcp.metadata.namespace };
      return [{ addresses: [address], conditions: { ready: true }, nodeName: pod.node, targetRef }];
    });
    if (endpoints.length === 0 || ports.length === 0) return [];
    const slice = ownedManifest(tcp, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      name: `${name}-${family.toLowerCase()}-rollout`,
      component: earlyComponent,
      labels: { 'kubernetes.io/service-name': name, [sliceManagerLabel]: stewardGroup },
      body: { addressType: family, endpoints, ports },
    });
    return [slice];
  });
}

import type { Resource } from '../../api/meta.ts';
import { managedByAnnotation } from '../../api/cluster-api/names.ts';
import type { HostAndPort } from './host-and-port.ts';
import { formatHostAndPort } from './host-and-port.ts';

/** An infrastructure cluster of any provider, as far as the contract defines it. */
export interface InfrastructureCluster extends Resource {
  readonly spec?: {
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
    readonly apiServerFixedIP?: string;
    readonly apiServerPort?: number;
  };
  readonly status?: {
    readonly ready?: boolean;
    readonly initialization?: { readonly provisioned?: boolean };
  };
}

/** What is to be done with an infrastructure cluster. */
export type InfrastructureStep =
  | { readonly is: 'agreed' }
  | { readonly is: 'patch'; readonly spec?: object; readonly status?: object }
  | { readonly is: 'mismatch'; readonly found: string; readonly wanted: string };

/**
 * Kinds whose endpoint is not at `spec.controlPlaneEndpoint` of the contract, or that are only checked because their
 * provider needs the endpoint before it starts.
 */
const exceptions: Readonly<Record<string, 'fixedAddress' | 'preset'>> = {
  OpenStackCluster: 'fixedAddress',
  Metal3Cluster: 'preset',
  MetalStackCluster: 'preset',
};

const isSet = (host: string | undefined): host is string => host !== undefined && host !== '' && host !== '0.0.0.0';

/**
 * The next step towards an infrastructure cluster that carries the control plane's endpoint. Any kind with
 * `spec.controlPlaneEndpoint` is served; one that is annotated as managed by somebody else also gets its provisioned flag,
 * in the shape of its contract. An endpoint that differs is never overwritten.
 */
export function infrastructureStep(
  infra: InfrastructureCluster,
  endpoint: HostAndPort,
  contract: 'v1beta1' | 'v1beta2',
): InfrastructureStep {
  const { host, port } = infra.spec?.controlPlaneEndpoint ?? {};
  const exception = exceptions[infra.kind];
  if (exception === 'fixedAddress') return fixedAddressStep(infra, endpoint);
  if (isSet(host)) {
    if (host !== endpoint.host || (port !== undefined && port !== 0 && port !== endpoint.port)) {
      const found = formatHostAndPort({ host, port: port ?? 0 });
      return { is: 'mismatch', found, wanted: formatHostAndPort(endpoint) };
    }
  } else if (exception === 'preset') {
    return { is: 'mismatch', found: 'none', wanted: formatHostAndPort(endpoint) };
  }
  const spec = !isSet(host) || port !== endpoint.port ? { controlPlaneEndpoint: { ...endpoint } } : undefined;
  const status = provisionedPatch(infra, contract);
  if (spec === undefined && status === undefined) return { is: 'agreed' };
  return { is: 'patch', ...(spec === undefined ? {} : { spec }), ...(status === undefined ? {} : { status }) };
}

function provisionedPatch(infra: InfrastructureCluster, contract: 'v1beta1' | 'v1beta2'): object | undefined {
  if (infra.metadata.annotations?.[managedByAnnotation] === undefined) return undefined;
  if (contract === 'v1beta1') return infra.status?.ready === true ? undefined : { ready: true };
  return infra.status?.initialization?.provisioned === true ? undefined : { initialization: { provisioned: true } };
}

function fixedAddressStep(infra: InfrastructureCluster, endpoint: HostAndPort): InfrastructureStep {
  const { apiServerFixedIP: address, apiServerPort: port } = infra.spec ?? {};
  if (address === endpoint.host && port === endpoint.port) return { is: 'agreed' };
  if (isSet(address) && address !== endpoint.host) {
    const found = formatHostAndPort({ host: address, port: port ?? 0 });
    return { is: 'mismatch', found, wanted: formatHostAndPort(endpoint) };
  }
  return { is: 'patch', spec: { apiServerFixedIP: endpoint.host, apiServerPort: endpoint.port } };
}

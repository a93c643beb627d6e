import ipaddr from 'ipaddr.js';
import type { NamespacedResource } from '../../../api/meta.ts';
import { managedByAnnotation } from '../../../api/cluster-api/names.ts';
import type { HostAndPort } from './host-and-port.ts';
import { formatHostAndPort } from './host-and-port.ts';
import type { InfrastructureRow } from './infrastructure-table.ts';
import { infrastructureTable } from './infrastructure-table.ts';

/** An infrastructure cluster of any provider, as far as the contract and the table of exceptions define it. */
export interface InfrastructureCluster extends NamespacedResource {
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
  | { readonly is: 'mismatch'; readonly found: string; readonly wanted: string }
  /** The provider answers at its endpoint itself: nothing is written. */
  | { readonly is: 'left'; readonly because: string };

const isSet = (host: string | undefined): host is string => host !== undefined && host !== '' && host !== '0.0.0.0';

const isAddress = (host: string): boolean => ipaddr.IPv4.isValidFourPartDecimal(host) || ipaddr.IPv6.isValid(host);

/**
 * The next step towards an infrastructure cluster that carries the control plane's endpoint. Any kind with
 * `spec.controlPlaneEndpoint` is served; one that is annotated as managed by someone else also gets its provisioned flag,
 * in the shape of its contract. An endpoint that differs is never overwritten.
 */
export function infrastructureStep(
  infra: InfrastructureCluster,
  endpoint: HostAndPort,
  contract: 'v1beta1' | 'v1beta2',
): InfrastructureStep {
  const exception = exceptionOf(infra);
  const itself = infrastructureTable[infra.kind]?.servesItself;
  if (itself !== undefined && fieldOf(infra.spec, itself) !== undefined) {
    return { is: 'left', because: `its spec.${itself.join('.')} provides its own endpoint` };
  }
  const current = infra.spec?.controlPlaneEndpoint ?? {};
  if (isSet(current.host)) {
    if (differs(current, endpoint)) return mismatch({ host: current.host, port: current.port ?? 0 }, endpoint);
  } else if (exception === 'preset') {
    return { is: 'mismatch', found: 'none', wanted: formatHostAndPort(endpoint) };
  } else if (exception === 'fixedAddress' && isAddress(endpoint.host)) {
    return fixedAddressStep(infra, endpoint);
  }
  const isWritten = isSet(current.host) && current.port === endpoint.port;
  const spec = isWritten ? undefined : { controlPlaneEndpoint: { ...endpoint } };
  const status = provisionedPatch(infra, contract);
  if (spec === undefined && status === undefined) return { is: 'agreed' };
  return { is: 'patch', spec, status };
}

/** A port that is not known yet is no difference. */
const differs = (current: Partial<HostAndPort>, wanted: HostAndPort): boolean =>
  current.host !== wanted.host || ((current.port ?? 0) !== 0 && current.port !== wanted.port);

/** How the endpoint is written to this kind in this version; undefined for the way of the contract. */
function exceptionOf({ apiVersion, kind }: InfrastructureCluster): InfrastructureRow['endpoint'] {
  const { endpoint, versions } = infrastructureTable[kind] ?? {};
  const version = apiVersion.split('/').at(-1) ?? '';
  return versions === undefined || versions.includes(version) ? endpoint : undefined;
}

function fieldOf(spec: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, field) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined,
    spec,
  );
}

const mismatch = (found: HostAndPort, wanted: HostAndPort): InfrastructureStep => ({
  is: 'mismatch',
  found: formatHostAndPort(found),
  wanted: formatHostAndPort(wanted),
});

function provisionedPatch(infra: InfrastructureCluster, contract: 'v1beta1' | 'v1beta2'): object | undefined {
  if (infra.metadata.annotations?.[managedByAnnotation] === undefined) return undefined;
  if (contract === 'v1beta1') return infra.status?.ready === true ? undefined : { ready: true };
  return infra.status?.initialization?.provisioned === true ? undefined : { initialization: { provisioned: true } };
}

/** The provider derives the endpoint from these fields; they hold an address, never a name. */
function fixedAddressStep(infra: InfrastructureCluster, endpoint: HostAndPort): InfrastructureStep {
  const { apiServerFixedIP: address, apiServerPort: port } = infra.spec ?? {};
  if (address === endpoint.host && port === endpoint.port) return { is: 'agreed' };
  if (isSet(address) && address !== endpoint.host) return mismatch({ host: address, port: port ?? 0 }, endpoint);
  return { is: 'patch', spec: { apiServerFixedIP: endpoint.host, apiServerPort: endpoint.port } };
}

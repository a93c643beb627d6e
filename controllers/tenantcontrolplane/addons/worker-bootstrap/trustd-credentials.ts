import type { Secret, Service } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { dataKeys, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import type { KeyPair, Profile } from '../../../../kubeadm/pki/key-pair.ts';
import { alternativeNames } from '../../../../kubeadm/san.ts';
import type { Endpoint } from '../../shared/control-plane-input.ts';
import type { ServingCertificate } from '../../endpoint/pods-have-san.ts';
import { secret, secretText } from '../../shared/secret.ts';
import { trustdPort } from './trustd-container.ts';

/** Value of the component label on the Secret, and the pods' checksum label. */
export const trustdComponent = 'talos-trustd-credentials';

const organizations = ['steward'];

/** The CA of the workers' operating system, separate from the tenant's own. */
export function osAuthorityProfile(tcp: TenantControlPlane): Profile {
  return { commonName: `${tcp.metadata.name} OS CA`, organizations, ca: true, pathLength: 1, usages: [] };
}

/** The certificates that it signs for us. */
export interface TrustdLeaves {
  readonly server: Profile;
  readonly admin: Profile;
}

/** The addresses and names of a load balancer. */
function balancerNames(service: Service): readonly string[] {
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  return ingress.flatMap(({ ip = '', hostname = '' }) => [ip, hostname]).filter((name) => name !== '');
}

/**
 * The certificates' subjects and names. Workers dial trustd at the addresses and the host name of every endpoint in `endpoints`.
 * Host names are not resolved, since their addresses may change: addresses in front of the Service belong in `talos.certSANs`.
 * Throws `InvalidInputError` for an invalid name.
 */
export function trustdLeaves(tcp: TenantControlPlane, endpoints: readonly Endpoint[], service: Service): TrustdLeaves {
  const reached = alternativeNames(
    [...endpoints.flatMap(({ address, host }) => [address, host]), ...balancerNames(service)],
    'controlPlaneEndpoint',
  );
  const given = alternativeNames(
    tcp.spec.addons.workerBootstrap?.talos?.certSANs ?? [],
    'spec.addons.workerBootstrap.talos.certSANs',
  );
  const both = (one: readonly string[], other: readonly string[]): readonly string[] => [
    ...new Set([...one, ...other]),
  ];
  return {
    server: {
      commonName: 'steward-trustd',
      organizations,
      usages: ['serverAuth'],
      dnsNames: both(reached.dnsNames, given.dnsNames),
      ipAddresses: both(reached.ipAddresses, given.ipAddresses),
    },
    admin: { commonName: `${tcp.metadata.name} admin`, organizations, usages: ['clientAuth'] },
  };
}

/** Everything that workers and trustd use to verify each other. */
export interface TrustdCredentials {
  readonly authority: KeyPair;
  /** Certificate of the server alone. */
  readonly server: KeyPair;
  readonly admin: KeyPair;
  /** The token by which trustd recognizes workers of the tenant. */
  readonly token: string;
}

/**
 * The values of the Secret. The server's certificate is followed by that of its CA, for programs that verify the server by the
 * chain it presents.
 */
export function trustdData({ authority, server, admin, token }: TrustdCredentials): Readonly<Record<string, string>> {
  const keys = dataKeys.trustdCredentials;
  return {
    [keys.authority.certificate]: authority.certificate,
    [keys.authority.key]: authority.key,
    [keys.server.certificate]: server.certificate + authority.certificate,
    [keys.server.key]: server.key,
    [keys.admin.certificate]: admin.certificate,
    [keys.admin.key]: admin.key,
    [keys.token]: token,
  };
}

/**
 * The checksum of the values that trustd uses: the administrator's certificate is not part of it, so its renewal restarts no pod.
 */
export function trustdChecksum(data: Readonly<Record<string, string>>): string {
  const { certificate, key } = dataKeys.trustdCredentials.admin;
  return checksum(Object.fromEntries(Object.entries(data).filter(([name]) => name !== certificate && name !== key)));
}

/** The Secret. */
export function trustdSecret(
  tcp: TenantControlPlane,
  content: { readonly credentials: TrustdCredentials; readonly rotated?: string | undefined },
): Manifest {
  return secret(tcp, {
    name: tenantObjects(tcp.metadata.name).trustdCredentials,
    component: trustdComponent,
    data: trustdData(content.credentials),
    rotated: content.rotated,
  });
}

/** The certificate that trustd presents to workers at an endpoint. */
export function trustdServing(
  tcp: TenantControlPlane,
  { host }: Endpoint,
  secrets: ReadonlyMap<string, Secret>,
): readonly ServingCertificate[] {
  if (trustdPort(tcp) === undefined) return [];
  const data = secretText(secrets.get(tenantObjects(tcp.metadata.name).trustdCredentials)?.data);
  const certificate = data[dataKeys.trustdCredentials.server.certificate] ?? '';
  return [{ component: trustdComponent, checksum: trustdChecksum(data), certificate, host }];
}

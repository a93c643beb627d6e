import type { Service } from '../../../../api/core/kinds.ts';
import type { Manifest } from '../../../../api/meta.ts';
import { dataKeys, tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import type { KeyPair, Profile } from '../../../../kubeadm/pki/key-pair.ts';
import { alternativeNames } from '../../../../kubeadm/san.ts';
import type { Endpoint } from '../control-plane-input.ts';
import { secret } from '../secret.ts';

/** Value of the component label on the Secret, and the pods' checksum label. */
export const trustdComponent = 'talos-trustd-credentials';

const organizations = ['steward'];

/** The authority of the workers' operating system, apart from the tenant's own. */
export function osAuthorityProfile(tcp: TenantControlPlane): Profile {
  return { commonName: `${tcp.metadata.name ?? ''} OS CA`, organizations, ca: true, pathLength: 1, usages: [] };
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
 * What they say. Workers dial trustd at addresses of the control plane and at its host name, that of each of `endpoints` while it
 * changes; what a name leads to is not asked, since it may be another address the next time: addresses in front of the Service
 * belong in `talos.certSANs`. Throws `InvalidInputError` for a name that is none.
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
    admin: { commonName: `${tcp.metadata.name ?? ''} admin`, organizations, usages: ['clientAuth'] },
  };
}

/** All that workers and trustd know of each other. */
export interface TrustdCredentials {
  readonly authority: KeyPair;
  /** Certificate of the server alone. */
  readonly server: KeyPair;
  readonly admin: KeyPair;
  /** By which workers are known for ours. */
  readonly token: string;
}

/** The values of the Secret. Programs that verify the server by its own words get the authority after its certificate. */
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
 * The checksum of what trustd is given of the Secret's values: the administrator's certificate is not part of it and rolls no
 * pod.
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
    name: tenantObjects(tcp.metadata.name ?? '').trustdCredentials,
    component: trustdComponent,
    data: trustdData(content.credentials),
    rotated: content.rotated,
  });
}

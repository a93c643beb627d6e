import { firstServiceIp, splitHostPort } from '../networks.ts';
import { alternativeNames } from '../san.ts';
import type { Profile } from './key-pair.ts';

/** The inputs of a tenant's certificates, which are the same in every version. */
export interface PkiInputs {
  /** The service network or networks as in `networkProfile.serviceCidr`. */
  readonly serviceCidr: string;
  readonly clusterDomain: string;
  /** The address that the API server advertises. */
  readonly advertiseAddress: string;
  /** `host:port` at which users and nodes reach the API server. */
  readonly controlPlaneEndpoint: string;
  /** All of the ClusterConfiguration's `apiServer.certSANs`. */
  readonly certSANs: readonly string[];
}

/** The CAs of a tenant. */
export type AuthorityName = 'ca' | 'front-proxy-ca';

/** The certificates of a tenant that its CAs sign, by the base name of kubeadm's file. */
export type LeafName =
  | 'apiserver'
  | 'apiserver-kubelet-client'
  | 'front-proxy-client'
  | 'admin.conf'
  | 'super-admin.conf'
  | 'controller-manager.conf'
  | 'scheduler.conf';

/** One certificate of a tenant: its content and its signer. */
export interface Leaf {
  readonly signer: AuthorityName;
  readonly profile: Profile;
}

/** The group that kubeadm binds to cluster-admin, for which `system:masters` is never used. */
export const clusterAdminsGroup = 'kubeadm:cluster-admins';

/** Both CAs. */
export const authorityProfiles: Readonly<Record<AuthorityName, Profile>> = {
  ca: { commonName: 'kubernetes', ca: true, usages: [], dnsNames: ['kubernetes'] },
  'front-proxy-ca': { commonName: 'front-proxy-ca', ca: true, usages: [], dnsNames: ['front-proxy-ca'] },
};

/** The serving certificate of the API server. Throws `InvalidInputError` for an invalid network, endpoint or name. */
export function apiServerProfile(inputs: PkiInputs): Profile {
  const names = alternativeNames([
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    `kubernetes.default.svc.${inputs.clusterDomain}`,
    firstServiceIp(inputs.serviceCidr),
    ...alternativeNames([inputs.advertiseAddress], 'advertiseAddress').ipAddresses,
    splitHostPort(inputs.controlPlaneEndpoint, 'controlPlaneEndpoint').host,
  ]);
  const users = alternativeNames(inputs.certSANs);
  return {
    commonName: 'kube-apiserver',
    usages: ['serverAuth'],
    dnsNames: [...new Set([...names.dnsNames, ...users.dnsNames])].sort(),
    ipAddresses: [...new Set([...names.ipAddresses, ...users.ipAddresses])],
  };
}

function client(commonName: string, ...organizations: readonly string[]): Profile {
  return organizations.length === 0
    ? { commonName, usages: ['clientAuth'] }
    : { commonName, organizations, usages: ['clientAuth'] };
}

/**
 * The client certificate of the API server for kubelets. It is in no group, in any version: the ClusterRoleBinding
 * `kubeadm:apiserver-kubelet-client` lets it use the kubelet API and nothing else.
 */
const kubeletClientProfile = client('kube-apiserver-kubelet-client');

/** Every certificate that a CA of the tenant signs. Throws `InvalidInputError` as `apiServerProfile` does. */
export function leafProfiles(inputs: PkiInputs): Readonly<Record<LeafName, Leaf>> {
  return {
    apiserver: { signer: 'ca', profile: apiServerProfile(inputs) },
    'apiserver-kubelet-client': { signer: 'ca', profile: kubeletClientProfile },
    'front-proxy-client': { signer: 'front-proxy-ca', profile: client('front-proxy-client') },
    ...clientProfiles,
  };
}

/** The client certificates inside the tenant's kubeconfigs, which need no inputs. */
export const clientProfiles = {
  'admin.conf': { signer: 'ca', profile: client('kubernetes-admin', clusterAdminsGroup) },
  'super-admin.conf': { signer: 'ca', profile: client('kubernetes-super-admin', 'system:masters') },
  'controller-manager.conf': { signer: 'ca', profile: client('system:kube-controller-manager') },
  'scheduler.conf': { signer: 'ca', profile: client('system:kube-scheduler') },
} as const satisfies Record<string, Leaf>;

import type { CertificateSigningRequest, Node } from '../../../../api/core/kinds.ts';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import { canonicalIp, contains } from '../../../../kubeadm/networks.ts';
import type { Network } from '../../../../kubeadm/networks.ts';
import { readCertificateRequest } from '../../../../kubeadm/pki/certificate-request.ts';
import type { CertificateRequest } from '../../../../kubeadm/pki/certificate-request.ts';
import { nodesGroup } from '../../../../kubeadm/rbac.ts';
import { isDnsName } from '../../../../kubeadm/san.ts';

/** The signer of kubelets' serving certificates; requests to other signers are ignored. */
export const kubeletServing = 'kubernetes.io/kubelet-serving';

/** The names that no node may have a certificate for, since clients trust the same CA for them. */
export interface ServingRules {
  /** The networks in which addresses must lie; empty for no restriction. */
  readonly allowedSubnets: readonly Network[];
  /** Names and addresses of the control plane, the latter in canonical form. */
  readonly controlPlane: ReadonlySet<string>;
  /** The networks of Services. */
  readonly serviceNetworks: readonly Network[];
  /** The domain below which Services have their names. */
  readonly clusterDomain: string;
}

/** A node's request for its own certificate, as far as the request alone shows. */
export interface ServingRequest {
  readonly is: 'plausible';
  /** Name of the requesting node. */
  readonly node: string;
  readonly wanted: CertificateRequest;
}

/** A request that is not approved: for good, or until the node reports the requested names. */
export interface LeftAlone {
  readonly is: 'left';
  readonly why: string;
  readonly mayFit: boolean;
}

const left = (why: string): LeftAlone => ({ is: 'left', why, mayFit: false });
const notYet = (why: string): LeftAlone => ({ is: 'left', why, mayFit: true });

/** True until a request has been approved, denied or issued. */
export function isPending({ status }: CertificateSigningRequest): boolean {
  return (status?.conditions ?? []).length === 0 && (status?.certificate ?? '') === '';
}

const prefix = 'system:node:';

/**
 * The usages that the signer accepts
 * (https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/#kubernetes-signers).
 */
const usageSets = ['digital signature,key encipherment,server auth', 'digital signature,server auth'];

function readRequest(request: string): CertificateRequest | string {
  try {
    return readCertificateRequest(Buffer.from(request, 'base64').toString('latin1'));
  } catch (error) {
    if (error instanceof InvalidInputError) return error.message;
    throw error;
  }
}

/** The first name that does not pass. A message repeats a tenant's text only where it has the expected form. */
function offender(names: readonly string[], passes: (name: string) => boolean): string | undefined {
  return names.find((name) => !passes(name));
}

function isClusterName(name: string, { controlPlane, clusterDomain }: ServingRules): boolean {
  const below = ['svc', clusterDomain].some((domain) => name === domain || name.endsWith(`.${domain}`));
  return below || controlPlane.has(name);
}

function nameTrouble({ dnsNames, ipAddresses }: CertificateRequest, rules: ServingRules): string | undefined {
  if (dnsNames.length + ipAddresses.length === 0) return 'requests neither a name nor an address';
  if (dnsNames.length + ipAddresses.length > mostNames) return `requests more than ${mostNames} names`;
  if (offender(dnsNames, isDnsName) !== undefined) return 'requests a name that is not a DNS name';
  const taken = offender(dnsNames, (name) => !isClusterName(name, rules));
  if (taken !== undefined) return `requests ${taken}, a name of the cluster itself`;
  const inCluster = (address: string): boolean =>
    rules.controlPlane.has(address) || rules.serviceNetworks.some((network) => contains(network, address));
  const service = offender(ipAddresses, (address) => !inCluster(address));
  if (service !== undefined) return `requests ${service}, an address of the cluster itself`;
  const { allowedSubnets } = rules;
  if (allowedSubnets.length === 0) return undefined;
  const outside = offender(ipAddresses, (address) => allowedSubnets.some((network) => contains(network, address)));
  return outside === undefined ? undefined : `requests ${outside}, which is in none of the allowed subnets`;
}

/** More names than any node has. */
const mostNames = 64;

/** Whether a pending request is a node's request for its own certificate, as far as the request alone shows. */
export function readServingRequest(
  { spec }: CertificateSigningRequest,
  rules: ServingRules,
): ServingRequest | LeftAlone {
  const { signerName, username = '', groups = [], usages = [], request } = spec;
  if (signerName !== kubeletServing) return left(`is not for the signer ${kubeletServing}`);
  const node = username.startsWith(prefix) ? username.slice(prefix.length) : '';
  if (!isDnsName(node) || !groups.includes(nodesGroup)) return left('was not created by a node');
  if (!usageSets.includes([...new Set(usages)].sort().join()))
    return left('requests usages other than those of a serving certificate');
  const wanted = readRequest(request);
  if (typeof wanted === 'string') return left(wanted);
  if (wanted.commonName !== username) return left(`was created by node ${node} but names another subject`);
  if (wanted.organizations.join() !== nodesGroup) return left(`requests a group other than ${nodesGroup}`);
  const trouble = nameTrouble(wanted, rules);
  return trouble === undefined ? { is: 'plausible', node, wanted } : left(trouble);
}

const nameTypes = ['Hostname', 'InternalDNS', 'ExternalDNS'];
const addressTypes = ['InternalIP', 'ExternalIP'];

/**
 * Whether the requesting node itself reports all requested names and addresses. The node's status may lag behind the request, so
 * a request that does not match may match later.
 */
export function evaluateNames(
  { node, wanted }: ServingRequest,
  found: Node | undefined,
): { readonly is: 'fit' } | LeftAlone {
  if (found === undefined) return notYet(`was created by node ${node}, which does not exist`);
  const addresses = found.status?.addresses ?? [];
  const reported = (types: readonly string[]): ReadonlySet<string | undefined> =>
    new Set(addresses.filter(({ type }) => types.includes(type)).map(({ address }) => address));
  const names = reported(nameTypes);
  const ips = new Set([...reported(addressTypes), ...names].map((address) => canonicalIp(address ?? '')));
  const unknown =
    offender(wanted.dnsNames, (name) => names.has(name)) ?? offender(wanted.ipAddresses, (address) => ips.has(address));
  return unknown === undefined ? { is: 'fit' } : notYet(`requests ${unknown}, which node ${node} does not report`);
}

import { listAdmissionControllers } from '../../../api/embedded/admission-controllers.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import { argumentValue } from './argument-value.ts';
import { mergeArguments } from './arguments.ts';
import type { Arguments } from './arguments.ts';
import type { ControlPlaneInput } from './control-plane-input.ts';
import { etcdOverrides } from './etcd-overrides.ts';
import { egressFolder } from './konnectivity/egress-selector.ts';
import { dataKeys } from '../../../api/names.ts';
import { kineSocket } from './kine-arguments.ts';
import { trustFiles } from './rotation/trust-files.ts';

const pki = '/etc/kubernetes/pki';

/**
 * Seconds for which a stopping API server still answers while its address leaves the Service, so that a rollout loses no
 * call: an endpoint's way to every kube-proxy takes one to three seconds, more under load.
 */
export const shutdownDelaySeconds = 10;

/**
 * Seconds in which a stopping API server then ends its watches. Those who watch go on at another one; without it they would keep
 * it for all of its grace, and a change of the store waits for the last server on the old one.
 */
const watchTerminationSeconds = 2;

/** The minor that brought the flag for it: an older API server would not start. */
const watchTerminationSince = 29;

/** Flags by which the API server finds its data. */
function storeArguments({ store, overrides = [] }: ControlPlaneInput): Arguments {
  if (store.kind === 'kine') return { 'etcd-servers': kineSocket };
  return {
    'etcd-servers': store.endpoints.join(','),
    'etcd-prefix': store.prefix,
    'etcd-compaction-interval': '0',
    'etcd-cafile': `${pki}/etcd/ca.crt`,
    'etcd-certfile': `${pki}/etcd/server.crt`,
    'etcd-keyfile': `${pki}/etcd/server.key`,
    ...(overrides.length > 0 && { 'etcd-servers-overrides': etcdOverrides(overrides) }),
  };
}

/**
 * Issuers of service-account tokens: the cluster's own domain signs. Tokens of the fixed name are accepted too, because
 * control planes of other domains were issued them before.
 */
function issuers(clusterDomain: string): readonly string[] {
  const issuer = (domain: string): string => `https://kubernetes.default.svc.${domain}`;
  return [...new Set([issuer(clusterDomain), issuer('cluster.local')])];
}

/** kube-apiserver's flags; the user's extra arguments win. */
export function apiServerArguments(input: ControlPlaneInput): string[] {
  const { spec } = input.tcp;
  const extra = spec.controlPlane.deployment.extraArgs?.apiServer;
  // An empty one is none: without mode and configuration the API server would allow everything to everybody.
  const ownAuthorization = (argumentValue(extra, 'authorization-config') ?? '') !== '';
  const { minor } = parseVersion(spec.kubernetes.version, 'spec.kubernetes.version');
  const plugins = listAdmissionControllers(spec.kubernetes.admissionControllers);
  const ours: Arguments = {
    ...storeArguments(input),
    'advertise-address': input.endpoint.address,
    'allow-privileged': 'true',
    ...(!ownAuthorization && { 'authorization-mode': 'Node,RBAC' }),
    'client-ca-file': trustFiles(input).ca,
    ...(plugins.length > 0 && { 'enable-admission-plugins': plugins.join(',') }),
    ...(spec.addons.konnectivity !== undefined && {
      'egress-selector-config-file': `${egressFolder}/${dataKeys.konnectivityEgress}`,
    }),
    'enable-bootstrap-token-auth': 'true',
    // Each API server would take the address that all of them share away when it ends: the Service `kubernetes` is kept by us.
    'endpoint-reconciler-type': 'none',
    'kubelet-client-certificate': `${pki}/apiserver-kubelet-client.crt`,
    'kubelet-client-key': `${pki}/apiserver-kubelet-client.key`,
    'kubelet-preferred-address-types': spec.kubernetes.kubelet.preferredAddressTypes.join(','),
    'proxy-client-cert-file': `${pki}/front-proxy-client.crt`,
    'proxy-client-key-file': `${pki}/front-proxy-client.key`,
    'requestheader-allowed-names': 'front-proxy-client',
    'requestheader-client-ca-file': trustFiles(input).frontProxyCa,
    'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
    'requestheader-group-headers': 'X-Remote-Group',
    'requestheader-username-headers': 'X-Remote-User',
    'secure-port': String(input.endpoint.port),
    'service-account-issuer': issuers(spec.networkProfile.clusterDomain),
    'service-account-key-file': `${pki}/sa.pub`,
    'service-account-signing-key-file': `${pki}/sa.key`,
    'service-cluster-ip-range': spec.networkProfile.serviceCidr,
    'shutdown-delay-duration': `${shutdownDelaySeconds}s`,
    ...(minor >= watchTerminationSince && {
      'shutdown-watch-termination-grace-period': `${watchTerminationSeconds}s`,
    }),
    'tls-cert-file': `${pki}/apiserver.crt`,
    'tls-private-key-file': `${pki}/apiserver.key`,
  };
  return mergeArguments(ours, { extra, winner: 'user' });
}

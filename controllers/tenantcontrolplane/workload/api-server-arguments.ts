import { listAdmissionControllers } from '../../../api/embedded/admission-controllers.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { compactionInterval } from '../datastore/compaction-interval.ts';
import { argumentValue } from '../shared/argument-value.ts';
import { mergeArguments } from '../shared/arguments.ts';
import type { Arguments } from '../shared/arguments.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';
import { tenantNetworks } from '../shared/tenant-networks.ts';
import { etcdOverrides } from '../datastore/overrides/etcd-overrides.ts';
import { kineSocket } from '../datastore/kine-arguments.ts';
import { serviceAccountIssuers } from '../configuration/service-account-issuers.ts';
import { trustFiles } from '../certificates/rotation/trust-files.ts';

const pki = '/etc/kubernetes/pki';

/**
 * Seconds during which a stopping API server still serves while its address is removed from the Service, so that a rollout loses
 * no request: it takes one to three seconds for every kube-proxy to notice, more under load.
 */
export const shutdownDelaySeconds = 10;

/**
 * Seconds within which a stopping API server then ends its watches. Clients continue at another API server; without this they
 * would keep it running for its whole grace period, and a change of the datastore waits for the last server on the old one.
 */
const watchTerminationSeconds = 2;

/** The minor that introduced the flag: an older API server would not start with it. */
const watchTerminationSince = 29;

/** Flags about the API server's datastore. */
function storeArguments({ store, overrides = [], version }: ControlPlaneInput): Arguments {
  if (store.kind === 'kine') return { 'etcd-servers': kineSocket };
  return {
    'etcd-servers': store.endpoints.join(','),
    'etcd-prefix': store.prefix,
    'etcd-compaction-interval': compactionInterval(version),
    'etcd-cafile': `${pki}/etcd/ca.crt`,
    'etcd-certfile': `${pki}/etcd/server.crt`,
    'etcd-keyfile': `${pki}/etcd/server.key`,
    ...(overrides.length > 0 && { 'etcd-servers-overrides': etcdOverrides(overrides) }),
  };
}

/** Issuers of service-account tokens, and where others find the public keys. */
function issuerArguments(spec: TenantControlPlane['spec']): Arguments {
  const { url } = spec.kubernetes.serviceAccountIssuer ?? {};
  return {
    'service-account-issuer': serviceAccountIssuers(spec),
    ...(url !== undefined && { 'service-account-jwks-uri': `${url.replace(/\/+$/, '')}/openid/v1/jwks` }),
  };
}

/** What the author set among kube-apiserver's limits. */
function limitArguments({ eventTTL, requestLimits }: TenantControlPlane['spec']['kubernetes']): Arguments {
  const { inFlight, mutatingInFlight } = requestLimits ?? {};
  return {
    ...(eventTTL !== undefined && { 'event-ttl': eventTTL }),
    ...(inFlight !== undefined && { 'max-requests-inflight': String(inFlight) }),
    ...(mutatingInFlight !== undefined && { 'max-mutating-requests-inflight': String(mutatingInFlight) }),
  };
}

/** kube-apiserver's flags; the user's extra arguments win. */
export function apiServerArguments(input: ControlPlaneInput): string[] {
  const { spec } = input.tcp;
  const extra = spec.controlPlane.deployment.extraArgs?.apiServer;
  // An empty value counts as none: without mode and configuration the API server would allow everything to everyone.
  const ownAuthorization =
    (argumentValue(extra, 'authorization-config') ?? '') !== '' ||
    (input.addons ?? []).some(({ apiServer }) => apiServer?.arguments['authorization-config'] !== undefined);
  const plugins = listAdmissionControllers(spec.kubernetes.admissionControllers);
  const ours: Arguments = {
    ...storeArguments(input),
    'advertise-address': input.endpoint.address,
    'allow-privileged': 'true',
    ...(!ownAuthorization && { 'authorization-mode': 'Node,RBAC' }),
    ...limitArguments(spec.kubernetes),
    'client-ca-file': trustFiles(input).ca,
    ...(plugins.length > 0 && { 'enable-admission-plugins': plugins.join(',') }),
    'enable-bootstrap-token-auth': 'true',
    // When it ends, each API server would remove the common address of all of them, so Steward maintains the Service
    // `kubernetes`.
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
    ...issuerArguments(spec),
    'service-account-key-file': `${pki}/sa.pub`,
    'service-account-signing-key-file': `${pki}/sa.key`,
    'service-cluster-ip-range': tenantNetworks({ spec }).services.value,
    'shutdown-delay-duration': `${shutdownDelaySeconds}s`,
    ...(input.version.minor >= watchTerminationSince && {
      'shutdown-watch-termination-grace-period': `${watchTerminationSeconds}s`,
    }),
    'tls-cert-file': `${pki}/apiserver.crt`,
    'tls-private-key-file': `${pki}/apiserver.key`,
    ...(input.addons ?? []).reduce<Arguments>((all, { apiServer }) => ({ ...all, ...apiServer?.arguments }), {}),
  };
  return mergeArguments(ours, { extra, winner: 'user' });
}

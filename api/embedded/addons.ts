import { core } from '../core/core-schema.ts';
import { bool, described, int32, list, obj, oneOf, opt, str } from '../schema.ts';

/** Where an add-on's image comes from. */
export const addonImageFields = {
  imageRepository: opt(described(str(), 'Repository of the image instead of registry.k8s.io.')),
  imageTag: opt(described(str(), 'Tag of the image instead of the one that belongs to the Kubernetes version.')),
} as const;

const konnectivityAgent = obj(
  {
    image: opt(str(), 'registry.k8s.io/kas-network-proxy/proxy-agent'),
    version: opt(described(str(), 'Tag of the image; follows the Kubernetes version when empty.')),
    tolerations: opt(list(core('Toleration')), [{ key: 'CriticalAddonsOnly', operator: 'Exists' }]),
    extraArgs: opt(described(list(str()), 'Further flags, dashes included.')),
    hostNetwork: opt(bool(), false),
    mode: opt(oneOf('DaemonSet', 'Deployment'), 'DaemonSet'),
    replicas: opt(described(int32(), 'Agents of a Deployment.')),
  },
  {
    rule: "!(self.mode == 'DaemonSet' && has(self.replicas) && self.replicas != 0) && !(self.mode == 'Deployment' && has(self.replicas) && self.replicas == 0)",
    message:
      'replicas must be 0 (or unset) when mode is DaemonSet, and greater than 0 (or unset) when mode is Deployment',
  },
);

const konnectivityServer = obj({
  port: described(int32(), 'Port at which agents reach the server.'),
  version: opt(described(str(), 'Tag of the image; follows the Kubernetes version when empty.')),
  image: opt(str(), 'registry.k8s.io/kas-network-proxy/proxy-server'),
  resources: opt(core('ResourceRequirements')),
  extraArgs: opt(described(list(str()), 'Further flags, dashes included.')),
  securityContext: opt(
    described(core('SecurityContext'), 'Its fields win over ours, which leave the container only what it needs.'),
  ),
});

/** What a konnectivity agent is when its author says nothing. */
export const defaultKonnectivityAgent = {
  image: 'registry.k8s.io/kas-network-proxy/proxy-agent',
  mode: 'DaemonSet',
} as const;

/** What a konnectivity server is when its author says nothing. */
export const defaultKonnectivityServer = {
  port: 8132,
  image: 'registry.k8s.io/kas-network-proxy/proxy-server',
} as const;

/** The tunnel from kube-apiserver to nodes and pods (https://github.com/kubernetes-sigs/apiserver-network-proxy). */
export const konnectivity = obj({
  server: opt(konnectivityServer, defaultKonnectivityServer),
  agent: opt(konnectivityAgent, defaultKonnectivityAgent),
});

/** A proxy in the tenant through which pods reach an API server that is published under a host name. */
export const tcpProxy = obj({
  image: opt(str()),
  resources: opt(core('ResourceRequirements')),
  hostAliases: opt(
    list(
      obj({
        ip: str(),
        hostnames: list(str()),
      }),
    ),
  ),
  internalEndpoint: opt(str()),
});

/** Bootstrap of workers that do not use kubeadm. */
export const workerBootstrapFields = {
  talos: opt(
    obj({
      image: opt(str(), 'ghcr.io/butlerdotdev/steward-trustd'),
      imageTag: opt(str()),
      port: opt(int32(), 50001),
      resources: opt(core('ResourceRequirements')),
      certSANs: opt(list(str())),
    }),
  ),
  csrApproval: opt(
    obj({ autoApprove: opt(described(bool(), 'Approves the certificate requests of joining nodes.'), true) }),
    {
      autoApprove: true,
    },
  ),
  allowedSubnets: opt(described(list(str()), 'Networks, in CIDR notation, from which workers may bootstrap.')),
} as const;

export const workerBootstrap = obj({ provider: oneOf('talos'), ...workerBootstrapFields });

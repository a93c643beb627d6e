import { core } from '../core/core-schema.ts';
import type { CelRule } from '../schema.ts';
import { bool, described, int32, list, obj, oneOf, opt, str } from '../schema.ts';

/** Image of an add-on. */
export const addonImageFields = {
  imageRepository: opt(described(str(), 'Repository of the image. Defaults to registry.k8s.io.')),
  imageTag: opt(described(str(), 'Tag of the image. Defaults to the one for the Kubernetes version.')),
} as const;

/** Pods of an add-on of kubeadm inside the tenant. */
export const addonPodFields = {
  ...addonImageFields,
  resources: opt(described(core('ResourceRequirements'), 'Compute resources of the container.')),
  extraArgs: opt(described(list(str()), 'Additional flags, including the dashes.')),
  tolerations: opt(
    described(list(core('Toleration')), 'Tolerations of the pods, in place of those that kubeadm sets.'),
  ),
} as const;

const konnectivityAgent = obj(
  {
    image: opt(str(), 'registry.k8s.io/kas-network-proxy/proxy-agent'),
    version: opt(described(str(), 'Tag of the image. If empty, it follows the Kubernetes version.')),
    tolerations: opt(list(core('Toleration')), [{ key: 'CriticalAddonsOnly', operator: 'Exists' }]),
    extraArgs: opt(described(list(str()), 'Additional flags, including the dashes.')),
    hostNetwork: opt(bool(), false),
    mode: opt(oneOf('DaemonSet', 'Deployment'), 'DaemonSet'),
    replicas: opt(described(int32(), 'Number of agents in mode Deployment.')),
  },
  {
    rule: "!(self.mode == 'DaemonSet' && has(self.replicas) && self.replicas != 0) && !(self.mode == 'Deployment' && has(self.replicas) && self.replicas == 0)",
    message:
      'replicas must be 0 (or unset) when mode is DaemonSet, and greater than 0 (or unset) when mode is Deployment',
  },
);

const konnectivityServer = obj({
  port: described(int32(), 'Port at which agents reach the server.'),
  hostname: opt(
    described(
      // The last label begins with a letter: routers select by the server name of TLS connections, which cannot be an address.
      str({ maxLength: 253, pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?\\.)*[a-z]([-a-z0-9]*[a-z0-9])?$' }),
      'Host name at which agents reach the server through the Ingress or the Gateway that exposes the control plane. It must differ from that of the control plane. If not set, it is that host name with `.k8s.` replaced by `.konnectivity.`.',
    ),
  ),
  version: opt(described(str(), 'Tag of the image. If empty, it follows the Kubernetes version.')),
  image: opt(str(), 'registry.k8s.io/kas-network-proxy/proxy-server'),
  resources: opt(core('ResourceRequirements')),
  extraArgs: opt(described(list(str()), 'Additional flags, including the dashes.')),
  securityContext: opt(
    described(
      core('SecurityContext'),
      'Security context of the container. Its fields take precedence over those that Steward sets, which grant only what the container needs.',
    ),
  ),
});

/** The rule for a host name of the konnectivity server. `exposed` says whether a router exposes the control plane. */
export const konnectivityHostnameRule = (exposed: string): CelRule => ({
  rule: `!has(self.addons) || !has(self.addons.konnectivity) || !has(self.addons.konnectivity.server) || !has(self.addons.konnectivity.server.hostname) || ${exposed}`,
  message: 'addons.konnectivity.server.hostname is supported only with an ingress or a gateway',
});

/** The default konnectivity agent. */
export const defaultKonnectivityAgent = {
  image: 'registry.k8s.io/kas-network-proxy/proxy-agent',
  mode: 'DaemonSet',
} as const;

/** The default konnectivity server. */
export const defaultKonnectivityServer = {
  port: 8132,
  image: 'registry.k8s.io/kas-network-proxy/proxy-server',
} as const;

/** The tunnel from kube-apiserver to nodes and pods (https://github.com/kubernetes-sigs/apiserver-network-proxy). */
const konnectivity = obj({
  server: opt(konnectivityServer, defaultKonnectivityServer),
  agent: opt(konnectivityAgent, defaultKonnectivityAgent),
});

/** A proxy inside the tenant through which pods reach an API server that is exposed under a host name. */
const tcpProxy = obj({
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
    obj({ autoApprove: opt(described(bool(), 'Whether to approve the certificate requests of joining nodes.'), true) }),
    {
      autoApprove: true,
    },
  ),
  allowedSubnets: opt(
    described(
      list(str()),
      'Networks, in CIDR notation, that must contain the addresses in the serving certificates of workers. If empty, any address is allowed.',
    ),
  ),
} as const;

/** The add-ons of a tenant. Each one is enabled by the presence of its object. */
export const addonFields = {
  coreDNS: opt(described(obj(addonPodFields), 'Cluster DNS.')),
  kubeProxy: opt(described(obj(addonPodFields), 'Service proxy on every node.')),
  konnectivity: opt(described(konnectivity, 'Tunnel from kube-apiserver to nodes and pods.')),
  tcpProxy: opt(
    described(
      tcpProxy,
      'Proxy inside the tenant through which pods reach an API server that is exposed under a host name.',
    ),
  ),
  workerBootstrap: opt(
    described(
      obj({ provider: oneOf('talos'), ...workerBootstrapFields }),
      'Bootstrap of workers that do not use kubeadm.',
    ),
  ),
} as const;

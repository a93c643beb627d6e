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
    image: opt(
      described(str(), 'Image of the agents, without a tag.'),
      'registry.k8s.io/kas-network-proxy/proxy-agent',
    ),
    version: opt(described(str(), 'Tag of the image. If empty, it follows the Kubernetes version.')),
    tolerations: opt(described(list(core('Toleration')), 'Tolerations of the pods of the agents.'), [
      { key: 'CriticalAddonsOnly', operator: 'Exists' },
    ]),
    extraArgs: opt(described(list(str()), 'Additional flags, including the dashes.')),
    hostNetwork: opt(described(bool(), 'Whether the agents use the network of their nodes.'), false),
    mode: opt(
      described(
        oneOf('DaemonSet', 'Deployment'),
        'Whether agents run on every node (DaemonSet) or as `replicas` pods (Deployment).',
      ),
      'DaemonSet',
    ),
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
  image: opt(described(str(), 'Image of the server, without a tag.'), 'registry.k8s.io/kas-network-proxy/proxy-server'),
  resources: opt(described(core('ResourceRequirements'), 'Compute resources of the container of the server.')),
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
  server: opt(
    described(konnectivityServer, 'Server end of the tunnel, a container in the pods of the control plane.'),
    defaultKonnectivityServer,
  ),
  agent: opt(
    described(konnectivityAgent, 'Agents inside the tenant, which connect to the server.'),
    defaultKonnectivityAgent,
  ),
});

/** A proxy inside the tenant through which pods reach an API server that is exposed under a host name. */
const tcpProxy = obj({
  image: opt(described(str(), 'Image of the proxy, with its tag. Defaults to the one that Steward was tested with.')),
  resources: opt(described(core('ResourceRequirements'), 'Compute resources of the container of the proxy.')),
  hostAliases: opt(
    described(
      list(
        obj({
          ip: described(str(), 'Address that the names resolve to.'),
          hostnames: described(list(str()), 'Names that resolve to the address.'),
        }),
      ),
      'Entries for `/etc/hosts` of the proxy, where nodes do not resolve the host name of the endpoint.',
    ),
  ),
  internalEndpoint: opt(
    described(
      str(),
      '`host:port` that the proxy dials instead of the endpoint. The port defaults to that of the API server.',
    ),
  ),
});

/** Text about the provider of the bootstrap. */
export const workerBootstrapProviderText = 'Operating system of the workers. Only `talos` is supported.';

const workerBootstrapProvider = described(oneOf('talos'), workerBootstrapProviderText);

/** Bootstrap of workers that do not use kubeadm. */
export const workerBootstrapFields = {
  talos: opt(
    described(
      obj({
        image: opt(
          described(str(), 'Image of trustd, without a tag if `imageTag` is set.'),
          'ghcr.io/butlerdotdev/steward-trustd',
        ),
        imageTag: opt(described(str(), 'Tag of the image. If empty, `image` is used as it is.')),
        port: opt(described(int32(), 'Port at which workers reach trustd. Talos itself dials only 50001.'), 50001),
        resources: opt(described(core('ResourceRequirements'), 'Compute resources of the container of trustd.')),
        certSANs: opt(
          described(
            list(str()),
            'Additional SANs of the serving certificate of trustd, such as addresses in front of the Service.',
          ),
        ),
      }),
      'The server trustd, from which Talos workers get their certificates. Required with provider talos.',
    ),
  ),
  csrApproval: opt(
    described(
      obj({
        autoApprove: opt(
          described(
            bool(),
            'Whether Steward approves requests for names and addresses that the node of the kubelet reports.',
          ),
          true,
        ),
      }),
      'What happens to certificate requests for the serving certificates of kubelets.',
    ),
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
      obj({ provider: workerBootstrapProvider, ...workerBootstrapFields }),
      'Bootstrap of workers that do not use kubeadm.',
    ),
  ),
} as const;

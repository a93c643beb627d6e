import {
  addonFields,
  addonPodFields,
  konnectivityHostnameRule,
  workerBootstrapFields,
  workerBootstrapProviderText,
} from '../embedded/addons.ts';
import { dataStoreFields, placementFields } from '../embedded/data-store-fields.ts';
import { kubernetesFields } from '../embedded/kubernetes-fields.ts';
import type { CelRule, Infer, Input } from '../schema.ts';
import { described, int32, list, obj, opt, str, time } from '../schema.ts';
import { componentSpec, deploymentSpec, kineSpec } from './component-spec.ts';
import { networkSpec } from './network-spec.ts';

const addons = obj({
  ...addonFields,
  coreDNS: opt(
    described(
      obj({
        ...addonPodFields,
        dnsServiceIPs: opt(
          described(list(str()), 'Addresses of the DNS Service. They take precedence over those in `network`.'),
        ),
      }),
      'Cluster DNS.',
    ),
  ),
  workerBootstrap: opt(
    described(
      obj({ provider: described(str(), workerBootstrapProviderText), ...workerBootstrapFields }),
      'Bootstrap of workers that do not use kubeadm.',
    ),
  ),
});

/** Fields of both StewardControlPlane and its template. */
export const sharedFields = {
  dataStoreName: opt(
    described(
      str(),
      'Name of the DataStore. If empty, the manager sets its default (`--datastore`) or chooses one. Changing it migrates the data.',
    ),
  ),
  ...placementFields,
  ...dataStoreFields,
  registry: opt(described(str(), 'Registry of the control plane images.'), 'registry.k8s.io'),
  apiServer: opt(described(componentSpec, 'Settings of kube-apiserver.')),
  controllerManager: opt(described(componentSpec, 'Settings of kube-controller-manager.')),
  scheduler: opt(described(componentSpec, 'Settings of kube-scheduler.')),
  kine: opt(described(kineSpec, 'Settings of kine, which connects kube-apiserver to a datastore other than etcd.')),
  ...kubernetesFields,
  kubelet: opt(kubernetesFields.kubelet.optional, {
    cgroupfs: 'systemd',
    preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'],
  }),
  addons: opt(described(addons, 'Add-ons of the workload cluster. Each one is enabled by the presence of its object.')),
  network: opt(described(networkSpec, 'How the API server is exposed.'), { serviceType: 'LoadBalancer' }),
  deployment: opt(described(deploymentSpec, 'Pods of the control plane.')),
} as const;

/** Rules for `sharedFields`. */
export const sharedRules: readonly CelRule[] = [
  {
    rule: '!(has(self.dataStoreSelector) && has(self.dataStoreName) && size(self.dataStoreName) > 0)',
    message: 'dataStoreName and dataStoreSelector are mutually exclusive: remove one of them',
  },
  konnectivityHostnameRule('(has(self.network) && (has(self.network.ingress) || has(self.network.gateway)))'),
];

/**
 * The endpoint as Cluster API writes it. Host and port are optional and may be zero values, which older clients send.
 */
const controlPlaneEndpoint = obj({
  host: opt(described(str({ maxLength: 512 }), 'Host name or address of the API server.')),
  port: opt(described(int32({ minimum: 0, maximum: 65535 }), 'Port of the API server.')),
});

/** Desired state of a StewardControlPlane. */
export const stewardControlPlaneSpec = obj(
  {
    version: described(
      str({ minLength: 1, maxLength: 256 }),
      'Kubernetes version, e.g. `v1.36.3`. The leading `v` is optional.',
    ),
    replicas: opt(described(int32(), 'Number of control plane pods. 0 puts the control plane to sleep.'), 2),
    controlPlaneEndpoint: opt(
      described(controlPlaneEndpoint, 'Endpoint of the API server. Set by the manager once it is known.'),
    ),
    rollout: opt(
      described(
        obj({ after: opt(described(time(), 'Once this time has passed, all pods created before it are replaced.')) }),
        'When to replace the pods even if no other change requires it.',
      ),
    ),
    ...sharedFields,
  },
  ...sharedRules,
);
export type StewardControlPlaneSpec = Infer<typeof stewardControlPlaneSpec>;
export type StewardControlPlaneSpecInput = Input<typeof stewardControlPlaneSpec>;

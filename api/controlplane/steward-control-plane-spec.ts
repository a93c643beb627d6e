import {
  addonFields,
  addonPodFields,
  konnectivityHostnameRule,
  workerBootstrapFields,
  workerBootstrapProviderText,
} from '../embedded/addons.ts';
import { dataStoreFields, placementFields } from '../embedded/data-store-fields.ts';
import { kubernetesFields } from '../embedded/kubernetes-fields.ts';
import { sleepFields } from '../embedded/sleep.ts';
import type { CelRule, Infer, Input } from '../schema.ts';
import { described, int32, list, obj, opt, str, time } from '../schema.ts';
import { restoreFrom } from '../steward/v1alpha1/backup/restore-source.ts';
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
  ...sleepFields,
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
  restoreFrom: opt(
    described(
      restoreFrom,
      'The backup that the control plane starts from: it gets the data, CAs and keys of the control plane that was backed up, once, before its first pod starts. Workers that know these CAs and reach its endpoint come back without joining again. Each backup is for one Cluster. Set on creation; can be removed once the backup is restored. Requires the feature gate `Backups`.',
    ),
  ),
} as const;

/** Rules for `sharedFields`. */
export const sharedRules: readonly CelRule[] = [
  {
    rule: '!(has(self.dataStoreSelector) && has(self.dataStoreName) && size(self.dataStoreName) > 0)',
    message: 'dataStoreName and dataStoreSelector are mutually exclusive: remove one of them',
  },
  {
    rule: '!has(self.restoreFrom) || !has(self.deployment) || !has(self.deployment.externalClusterReference)',
    message:
      'restoreFrom is not supported with deployment.externalClusterReference: a restore reaches only control planes in this cluster; remove one of them',
    fieldPath: '.restoreFrom',
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
  {
    // Admission says when it can be removed: that depends on the status.
    rule: '!has(self.restoreFrom) || (has(oldSelf.restoreFrom) && self.restoreFrom == oldSelf.restoreFrom)',
    message:
      'restoreFrom is set on creation and cannot be added or changed: leave it as it was, or create another Cluster; once the backup is restored, the field can be removed',
    fieldPath: '.restoreFrom',
  },
);
export type StewardControlPlaneSpec = Infer<typeof stewardControlPlaneSpec>;
export type StewardControlPlaneSpecInput = Input<typeof stewardControlPlaneSpec>;

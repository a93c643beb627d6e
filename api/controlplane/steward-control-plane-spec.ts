import { addonImageFields, konnectivity, tcpProxy, workerBootstrapFields } from '../embedded/addons.ts';
import { admissionControllerList } from '../embedded/admission-controllers.ts';
import { core } from '../core/core-schema.ts';
import { kubelet } from '../embedded/kubelet.ts';
import type { CelRule, Infer, Input } from '../schema.ts';
import { described, int32, list, obj, opt, ruled, str, time } from '../schema.ts';
import { dataStoreTolerations } from '../steward/v1alpha1/data-store-placement.ts';
import { componentSpec, deploymentSpec, kineSpec } from './component-spec.ts';
import { networkSpec } from './network-spec.ts';

const addons = obj({
  coreDNS: opt(
    described(
      obj({
        ...addonImageFields,
        dnsServiceIPs: opt(described(list(str()), 'Addresses of the DNS service; they win over those of `network`.')),
      }),
      'Cluster DNS.',
    ),
  ),
  kubeProxy: opt(described(obj(addonImageFields), 'Service proxy on every node.')),
  konnectivity: opt(described(konnectivity, 'Tunnel from kube-apiserver to nodes and pods.')),
  tcpProxy: opt(described(tcpProxy, 'Proxy to an API server that is published under a host name.')),
  workerBootstrap: opt(
    described(obj({ provider: str(), ...workerBootstrapFields }), 'Bootstrap of workers that do not use kubeadm.'),
  ),
});

/** The fields that a StewardControlPlane and its template share. */
export const sharedFields = {
  dataStoreName: opt(described(str(), 'Name of the DataStore; the operator chooses its default when empty.')),
  dataStoreSelector: opt(
    described(
      core('LabelSelector'),
      'Labels of the DataStores that the control plane may be placed in; looked at once.',
    ),
  ),
  dataStoreTolerations: opt(
    described(dataStoreTolerations, 'Taints of DataStores that the control plane puts up with when it is placed.'),
  ),
  dataStoreSchema: opt(
    described(str(), 'Prefix, database or bucket in the store; chosen by the operator when empty. It cannot change.'),
  ),
  dataStoreUsername: opt(
    described(
      ruled(str(), { rule: 'self == oldSelf', message: 'changing the dataStoreUsername is not supported' }),
      'User in the store; chosen by the operator when empty.',
    ),
  ),
  dataStoreOverrides: opt(
    described(
      list(obj({ resource: opt(str()), dataStore: opt(str()) })),
      'Resources that are kept in another DataStore; all of them have driver etcd. Once the control plane has run only `/events` may change its place, and loses what it has.',
    ),
  ),
  registry: opt(described(str(), 'Registry of the images of the control plane.'), 'registry.k8s.io'),
  admissionControllers: opt(admissionControllerList),
  apiServer: opt(componentSpec),
  controllerManager: opt(componentSpec),
  scheduler: opt(componentSpec),
  kine: opt(kineSpec),
  kubelet: opt(described(kubelet, 'What joining kubelets are told.'), {
    cgroupfs: 'systemd',
    preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'],
  }),
  addons: opt(described(addons, 'Add-ons in the workload cluster; presence of an object enables it.')),
  network: opt(described(networkSpec, 'How the API server is reached.'), { serviceType: 'LoadBalancer' }),
  deployment: opt(described(deploymentSpec, 'The pods of the control plane.')),
} as const;

/** The rules over `sharedFields`. */
export const sharedRules: readonly CelRule[] = [
  {
    rule: '!(has(self.dataStoreSelector) && has(self.dataStoreName) && size(self.dataStoreName) > 0)',
    message: 'dataStoreName and dataStoreSelector exclude each other: name a DataStore or let one be chosen',
  },
];

/**
 * The endpoint as Cluster API writes it. Host and port are optional and may be zero values, which older clients send.
 */
const controlPlaneEndpoint = obj({
  host: opt(described(str({ maxLength: 512 }), 'Host name or address of the API server.')),
  port: opt(described(int32({ minimum: 0, maximum: 65535 }), 'Port of the API server.')),
});

/** What a StewardControlPlane is asked to be. */
export const stewardControlPlaneSpec = obj(
  {
    version: described(
      str({ minLength: 1, maxLength: 256 }),
      'Kubernetes version, e.g. `v1.36.3`; the leading `v` may be left out.',
    ),
    replicas: opt(described(int32(), 'Pods of the control plane; 0 puts it to sleep.'), 2),
    controlPlaneEndpoint: opt(
      described(controlPlaneEndpoint, 'Endpoint of the API server; filled in once it is known.'),
    ),
    rollout: opt(
      described(
        obj({ after: opt(described(time(), 'All pods that are older are replaced once this time has come.')) }),
        'When the pods are replaced although nothing else asks for it.',
      ),
    ),
    ...sharedFields,
  },
  ...sharedRules,
);
export type StewardControlPlaneSpec = Infer<typeof stewardControlPlaneSpec>;
export type StewardControlPlaneSpecInput = Input<typeof stewardControlPlaneSpec>;

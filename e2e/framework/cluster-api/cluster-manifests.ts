import type { PlainObject } from '../../cluster/kubernetes-client.ts';
import { infrastructureVersion } from '../../infrastructure/kinds.ts';
import { capiVersion } from './cluster-stage.ts';

/** A Cluster of the infrastructure provider of e2e that names a StewardControlPlane of its own name, and has no workers. */
export function clusterManifests(name: string, namespace = 'default'): readonly PlainObject[] {
  const metadata = { name, namespace };
  return [
    { apiVersion: infrastructureVersion, kind: 'NetnsCluster', metadata, spec: {} },
    {
      apiVersion: capiVersion,
      kind: 'Cluster',
      metadata,
      spec: {
        clusterNetwork: { services: { cidrBlocks: ['10.112.0.0/16'] }, pods: { cidrBlocks: ['10.128.0.0/16'] } },
        controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'StewardControlPlane', name },
        infrastructureRef: { apiGroup: infrastructureVersion.split('/')[0], kind: 'NetnsCluster', name },
      },
    },
  ];
}

/** A StewardControlPlane with one replica and both add-ons, as a template would write it. */
export function controlPlaneManifest(name: string, namespace = 'default'): PlainObject {
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha2',
    kind: 'StewardControlPlane',
    metadata: { name, namespace },
    spec: {
      version: 'v1.36.3',
      replicas: 1,
      dataStoreName: 'default',
      network: { serviceType: 'NodePort' },
      kubelet: { preferredAddressTypes: ['InternalIP'], cgroupfs: 'cgroupfs' },
      addons: { coreDNS: {}, kubeProxy: {} },
    },
  };
}

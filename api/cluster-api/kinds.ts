import type { Condition, KindRef, NamespacedResource, Resource } from '../meta.ts';
import { capiGroup } from './names.ts';

/**
 * A reference in API version v1beta2, always within the namespace. Labels of the CustomResourceDefinition give the
 * version.
 */
export interface ContractReference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

/** Topology of a Cluster, reduced to the fields that are read. */
export interface CapiTopology {
  readonly classRef?: { readonly name?: string; readonly namespace?: string };
  readonly version?: string;
}

/** A Cluster (cluster.x-k8s.io/v1beta2), reduced to the fields that are read. Other fields are preserved. */
export interface CapiCluster extends NamespacedResource {
  readonly spec?: {
    readonly paused?: boolean;
    readonly clusterNetwork?: {
      readonly apiServerPort?: number;
      readonly services?: { readonly cidrBlocks?: readonly string[] };
      readonly pods?: { readonly cidrBlocks?: readonly string[] };
      readonly serviceDomain?: string;
    };
    /** Zero values mean that the endpoint is not known yet. */
    readonly controlPlaneEndpoint?: { readonly host?: string; readonly port?: number };
    readonly controlPlaneRef?: ContractReference;
    readonly infrastructureRef?: ContractReference;
    readonly topology?: CapiTopology;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly initialization?: { readonly controlPlaneInitialized?: boolean };
  };
}

const capi = <T extends NamespacedResource = NamespacedResource>(kind: string, plural: string): KindRef<T> => ({
  group: capiGroup,
  version: 'v1beta2',
  kind,
  plural,
  namespaced: true,
});

export const capiCluster = capi<CapiCluster>('Cluster', 'clusters');

/** A worker machine. Only its existence matters to a control plane. */
export const capiMachine = capi('Machine', 'machines');

/** Workers that an infrastructure provider manages as a group, with or without Machines. */
export const capiMachinePool = capi('MachinePool', 'machinepools');

/** Only the labels of ClusterClasses are read. */
export const capiClusterClass = capi('ClusterClass', 'clusterclasses');

/** A group of workers, reduced to the fields that show which version it runs. */
export interface CapiMachineDeployment extends NamespacedResource {
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: { readonly spec?: { readonly version?: string } };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly upToDateReplicas?: number;
  };
}

export const capiMachineDeployment = capi<CapiMachineDeployment>('MachineDeployment', 'machinedeployments');

/**
 * Registers a runtime extension with core Cluster API: its address and the CA to trust
 * (runtime.cluster.x-k8s.io/v1beta2).
 */
export interface CapiExtensionConfig extends Resource {
  readonly spec?: {
    readonly clientConfig?: {
      readonly caBundle?: string;
      readonly url?: string;
      readonly service?: { readonly path?: string };
    };
  };
}

export const capiExtensionConfig: KindRef<CapiExtensionConfig> = {
  group: `runtime.${capiGroup}`,
  version: 'v1beta2',
  kind: 'ExtensionConfig',
  plural: 'extensionconfigs',
  namespaced: false,
};

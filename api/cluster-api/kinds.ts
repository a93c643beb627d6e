import type { Condition, KindRef, Resource } from '../meta.ts';
import { capiGroup } from './names.ts';

/** A reference of API version v1beta2: always to the same namespace; its version is found through the definition's labels. */
export interface ContractReference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
}

/** What a Cluster is made from, as far as it is read. */
export interface CapiTopology {
  readonly classRef?: { readonly name?: string; readonly namespace?: string };
  readonly version?: string;
}

/** A Cluster (cluster.x-k8s.io/v1beta2), as far as a control-plane provider reads it; other fields survive untouched. */
export interface CapiCluster extends Resource {
  readonly spec?: {
    readonly paused?: boolean;
    readonly clusterNetwork?: {
      readonly apiServerPort?: number;
      readonly services?: { readonly cidrBlocks?: readonly string[] };
      readonly pods?: { readonly cidrBlocks?: readonly string[] };
      readonly serviceDomain?: string;
    };
    /** Zero values mean that it is not known. */
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

const capi = <T extends Resource>(kind: string, plural: string): KindRef<T> => ({
  group: capiGroup,
  version: 'v1beta2',
  kind,
  plural,
  namespaced: true,
});

export const capiCluster = capi<CapiCluster>('Cluster', 'clusters');

/** A worker; only its existence matters to a control plane. */
export const capiMachine = capi('Machine', 'machines');

/** Workers that an infrastructure provider keeps as a group, with or without Machines. */
export const capiMachinePool = capi('MachinePool', 'machinepools');

/** A shape of Clusters; only its labels matter here. */
export const capiClusterClass = capi('ClusterClass', 'clusterclasses');

/** A group of workers, as far as the version that it runs is told. */
export interface CapiMachineDeployment extends Resource {
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

/** Tells core Cluster API whom to ask at its hooks, and whose certificates to trust there (runtime.cluster.x-k8s.io/v1beta2). */
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

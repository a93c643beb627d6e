import type { Condition, KindRef, Resource } from '../meta.ts';
import { capiGroup } from './names.ts';

/** A reference of API version v1beta2: always to the same namespace; its version is found through the definition's labels. */
export interface ContractReference {
  readonly apiGroup?: string;
  readonly kind?: string;
  readonly name?: string;
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
    readonly topology?: unknown;
  };
  readonly status?: { readonly conditions?: readonly Condition[] };
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

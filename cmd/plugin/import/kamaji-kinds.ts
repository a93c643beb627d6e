import type { KindRef, NamespacedResource, Resource } from '../../../api/meta.ts';
import type { ExposedSpec } from './pinned-address.ts';

/** A TenantControlPlane of Kamaji, as far as an import reads it. Its spec is that of Steward; nothing of it is trusted. */
export interface KamajiControlPlane extends NamespacedResource {
  readonly spec: KamajiSpec;
  readonly status?: KamajiStatus;
}

interface KamajiSpec {
  readonly dataStore?: string;
  readonly dataStoreSchema?: string;
  readonly dataStoreUsername?: string;
  readonly dataStoreOverrides?: readonly unknown[];
  readonly writePermissions?: Readonly<Record<string, boolean>>;
  readonly controlPlane?: ExposedSpec['controlPlane'];
  readonly networkProfile?: ExposedSpec['networkProfile'];
  readonly [field: string]: unknown;
}

/** What Kamaji reports in `status.certificates`, by the name of the certificate. */
type Recorded = Readonly<Record<string, unknown>>;

interface KamajiStatus {
  readonly controlPlaneEndpoint?: string;
  readonly storage?: {
    readonly driver?: string;
    readonly dataStoreName?: string;
    readonly config?: Recorded;
    readonly setup?: { readonly schema?: string; readonly user?: string };
    readonly certificate?: Recorded;
  };
  readonly certificates?: Readonly<Record<string, Recorded | undefined>>;
  readonly kubernetesResources?: { readonly version?: { readonly version?: string; readonly status?: string } };
  readonly addons?: Readonly<Record<string, Recorded | undefined>>;
}

/** A DataStore of Kamaji. */
export interface KamajiDataStore extends Resource {
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly driver?: string;
    readonly endpoints?: readonly string[];
  };
}

const group = 'kamaji.clastix.io';
const version = 'v1alpha1';

/** The kinds of Kamaji that an import takes over from. */
export const kamajiKinds = {
  controlPlane: {
    group,
    version,
    kind: 'TenantControlPlane',
    plural: 'tenantcontrolplanes',
    namespaced: true,
  } as KindRef<KamajiControlPlane>,
  dataStore: {
    group,
    version,
    kind: 'DataStore',
    plural: 'datastores',
    namespaced: false,
  } as KindRef<KamajiDataStore>,
} as const;

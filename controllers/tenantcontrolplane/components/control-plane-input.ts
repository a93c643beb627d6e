import type { Deployment } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { ClientTls, StoreBinding } from '../../../stores/driver.ts';

/** Where the API server of a tenant is found. */
export interface Endpoint {
  /** An IP address that workers reach: the API server advertises it. */
  readonly address: string;
  /** Service port, secure port and, for NodePort, node port in one. */
  readonly port: number;
  /** What kubeconfigs name: host or address, an IPv6 address without brackets. */
  readonly host: string;
  /** The port that goes with `host`. */
  readonly hostPort: number;
}

/** A resource that is kept in another store, as kube-apiserver is told. */
export interface StoreOverride {
  /** As `group/resource`. */
  readonly resource: string;
  /** `https://host:port`. */
  readonly endpoints: readonly string[];
}

/** Which authorities come with a bundle of all that is to be trusted; without one, the authority alone is. */
export interface TrustBundles {
  readonly ca: boolean;
  readonly frontProxyCa: boolean;
}

/** All that the pods of a control plane are made of. */
export interface ControlPlaneInput {
  readonly tcp: TenantControlPlane;
  readonly endpoint: Endpoint;
  readonly store: StoreBinding;
  /** The files of the datastore-certificate Secret, where the store uses TLS. */
  readonly storeTls?: ClientTls | undefined;
  /** Where single resources are kept; then the pods use the TLS files of the datastore-overrides-certificate Secret. */
  readonly overrides?: readonly StoreOverride[];
  /** Image of kine, for stores whose protocol kube-apiserver does not speak. */
  readonly kineImage: string;
  readonly dataStoreName: string;
  /** The Deployment as it stands. */
  readonly present?: Deployment | undefined;
  /** Checksums of the mounted Secrets by component; a change rolls the pods. */
  readonly checksums: Readonly<Record<string, string>>;
  /** None unless said. */
  readonly trustBundles?: TrustBundles;
  /** Checksum of the datastore-config Secret. */
  readonly storageChecksum: string;
}

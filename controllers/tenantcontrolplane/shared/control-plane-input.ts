import type { Deployment } from '../../../api/core/kinds.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import type { ClientTls, StoreBinding } from '../../../stores/driver.ts';
import type { AddonPod } from './pod-parts.ts';

/** Where the API server of a tenant is reached. */
export interface Endpoint {
  /** An IP address that workers can reach: the API server advertises it. */
  readonly address: string;
  /** Service port, secure port and, for NodePort, node port at once. */
  readonly port: number;
  /** What kubeconfigs name: host or address, an IPv6 address without brackets. */
  readonly host: string;
  /** The port that goes with `host`. */
  readonly hostPort: number;
}

/** A resource that is stored in another datastore, as kube-apiserver needs it. */
export interface StoreOverride {
  /** As `group/resource`. */
  readonly resource: string;
  /** `https://host:port`. */
  readonly endpoints: readonly string[];
}

/** Which CAs have a bundle of everything to trust; without one, only the CA itself is trusted. */
export interface TrustBundles {
  readonly ca: boolean;
  readonly frontProxyCa: boolean;
}

/** All inputs of a control plane's pods. */
export interface ControlPlaneInput {
  readonly tcp: TenantControlPlane;
  /** The version that the pods get. */
  readonly version: KubernetesVersion;
  readonly endpoint: Endpoint;
  readonly store: StoreBinding;
  /** The files of the datastore-certificate Secret, if the datastore uses TLS. */
  readonly storeTls?: ClientTls | undefined;
  /** The overrides; with them, the pods use the TLS files of the datastore-overrides-certificate Secret. */
  readonly overrides?: readonly StoreOverride[];
  /** Image of kine, for datastores whose protocol kube-apiserver does not speak. */
  readonly kineImage: string;
  /** What add-ons bring into the pods; nothing by default. */
  readonly addons?: readonly AddonPod[];
  readonly dataStoreName: string;
  /** The existing Deployment. */
  readonly present?: Deployment | undefined;
  /** Checksums of the mounted Secrets by component; a change rolls the pods. */
  readonly checksums: Readonly<Record<string, string>>;
  /** None by default. */
  readonly trustBundles?: TrustBundles;
  /** Checksum of the datastore-config Secret. */
  readonly storageChecksum: string;
}

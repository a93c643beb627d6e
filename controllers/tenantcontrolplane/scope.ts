import type { Deployment, Secret, Service } from '../../api/core/kinds.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { CredentialsRotation } from '../../api/steward/v1alpha1/credentials-rotation.ts';
import type { OverrideShare, PlacementStatus } from '../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import type { MigrationStatus, PreviousShare } from '../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import type { ServiceAccountKeys } from '../../kubeadm/pki/issue.ts';
import type { ClientTls, StoreBinding, Tenancy } from '../../stores/driver.ts';
import type { Outcome } from '../../runtime/phases.ts';
import type { Endpoint, StoreOverride, TrustBundles } from './components/control-plane-input.ts';
import type { OverridePlan } from './components/override-shares.ts';
import type { ProxyTls } from './components/tcp-proxy/proxy-certificate.ts';
import type { PublicationStatus } from './components/publication-status.ts';
import type { RequestsLeft } from './components/worker-bootstrap/requests-text.ts';
import type { RouteVerdict } from './components/route-verdict.ts';
import type { Takeover } from './components/takeover.ts';
import type { UpgradeHold } from './components/upgrade/upgrade-hold.ts';

/** What the management cluster held when the visit began, read from the API server itself. */
export interface Observed {
  readonly service: Service | undefined;
  readonly deployment: Deployment | undefined;
  /** The Secrets of the tenant by name. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** The DataStore in use; undefined when there is none of that name. */
  readonly dataStore: DataStore | undefined;
  /** The DataStores of single resources by name, those that there are. */
  readonly overrideStores: ReadonlyMap<string, DataStore>;
  /** Why some of these take no tenants of the namespace, by name. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** The authorities of a tenant. */
export interface Authorities {
  /** The pair that signs what the tenant's own API server verifies. */
  readonly ca: KeyPair;
  readonly frontProxyCa: KeyPair;
  /** PEM of every cluster CA that clients must trust, that of `ca` first. */
  readonly trusted: string;
  /** The pairs that sign what others verify: kubelets, clients and extension API servers. */
  readonly forOthers: { readonly ca: KeyPair; readonly frontProxyCa: KeyPair };
  /** Which Secrets hold a bundle for the pods to trust. */
  readonly bundled: TrustBundles;
  readonly serviceAccount: ServiceAccountKeys;
  /** True when this visit replaced the CA on request. */
  readonly rotated: boolean;
}

/** A Secret as the status and the pods' labels tell of it. */
export interface SecretFact {
  readonly name: string;
  readonly checksum: string;
}

/** The Secrets that hold the tenant's PKI, by the component label. */
export type SecretFacts = Readonly<Record<string, SecretFact>>;

/** The tenant's share of its store. */
export interface StoreFacts {
  readonly driver: string;
  readonly dataStoreName: string;
  readonly binding: StoreBinding;
  readonly tenancy: Tenancy;
  readonly tls: ClientTls | undefined;
  readonly config: SecretFact;
  readonly certificate: SecretFact;
  /** Over the store's endpoints and credentials and the tenancy's names: recorded once the tenancy is made. */
  readonly setup: string;
}

/** The tenant's shares of the stores that hold single resources. */
export interface OverrideFacts {
  /** What the pods are told. */
  readonly bindings: readonly StoreOverride[];
  /** What is recorded once a share is made, by the name of its DataStore. */
  readonly setups: ReadonlyMap<string, string>;
  /** The Secret whose certificate opens all of the stores; absent while there is no other store. */
  readonly certificate?: SecretFact;
}

/** How a migration goes on after this visit. */
export interface MigrationFacts {
  readonly record: MigrationStatus;
  /** When to look again, in milliseconds; absent when an event tells. */
  readonly afterMs?: number;
  /** The copy that a migration which has just succeeded leaves in its source. */
  readonly leftBehind?: PreviousShare;
}

/** How the endpoint is published besides its Service. */
export interface PublicationFacts {
  /** Why the routes could not be made. */
  readonly failure?: Error;
  /** Whether the routes may take the place of the way by which workers and users came until now. */
  readonly takeover: Takeover;
  /** True while routes lead something that the spec does not ask for any more. */
  readonly hasFormer: boolean;
  /** The names of the routes; absent when they cannot be made. */
  readonly made: readonly string[] | undefined;
  readonly status: PublicationStatus;
  /** Whether the routes lead to the control plane; absent when there are to be none. */
  readonly verdict?:
    | RouteVerdict
    | { readonly leads: false; readonly reason: 'KindNotInstalled' | 'HostNameTaken'; readonly message: string };
  /** The same of the agents of konnectivity, where these have a route of their own. */
  readonly agents?: RouteVerdict;
  /** The same of trustd. */
  readonly trustd?: RouteVerdict;
  /** What the status tells of that route. */
  readonly agentsStatus?: PublicationStatus['gateway'];
}

/** What a visit knows; phases add to it. */
export interface Scope {
  /** As the spec has it, but for a version that the preflight holds back. */
  readonly tcp: TenantControlPlane;
  readonly observed: Observed;
  /** Why the version that the spec asks for waits; absent when it does not. */
  readonly upgradeHold?: UpgradeHold;
  readonly service?: Service;
  /** The endpoint that the spec asks for. */
  readonly target?: Endpoint;
  /** The endpoint that workers and users are told of: the target once that leads to them, until then the one before. */
  readonly endpoint?: Endpoint;
  /** True when a router leads to that endpoint by its name. */
  readonly isRouted?: boolean;
  readonly publication?: PublicationFacts;
  readonly authorities?: Authorities;
  readonly authorityFacts?: SecretFacts;
  /** The record of the rotations, when this visit changes it. */
  readonly rotation?: CredentialsRotation;
  readonly certificateFacts?: SecretFacts;
  readonly kubeconfigFacts?: SecretFacts;
  /** When the first certificate must be renewed, in milliseconds since the epoch. */
  readonly certificateRenewal?: number;
  readonly kubeconfigRenewal?: number;
  /** The kubeconfig that names the endpoint and opens everything: cluster-info is made of it. */
  readonly superAdminKubeconfig?: string;
  /** The kubeconfig by which the operator works in the tenant. */
  readonly operatorKubeconfig?: string;
  /** The DataStore that this visit has chosen; not yet on record. */
  readonly placement?: PlacementStatus;
  readonly store?: StoreFacts;
  /** True when the tenancy is in the store. */
  readonly tenancyEnsured?: boolean;
  readonly overridePlan?: OverridePlan;
  readonly overrides?: OverrideFacts;
  /** The shares that are left when those were removed which nobody wants any more. */
  readonly overridesLeft?: readonly OverrideShare[];
  /** The migration under way, as the status is to record it. */
  readonly migration?: MigrationFacts;
  /** The old copies of the data that are left, when one was removed. */
  readonly previous?: readonly PreviousShare[];
  readonly kubeadmConfig?: SecretFact;
  readonly deployment?: Deployment;
  /** True when the API server answered and what its first users need is in place in the tenant. */
  readonly tenantPrepared?: boolean;
  /** True while the tenant denies writes as its spec asks. */
  readonly writesDenied?: boolean;
  readonly bootstrapChecksum?: string;
  readonly coreDNS?: boolean;
  readonly kubeProxy?: boolean;
  /** The ConfigMap that sends kube-apiserver through the tunnel. */
  readonly konnectivityEgress?: SecretFact;
  /** What became of the agents in the tenant, to be told. */
  readonly agentsOutcome?: Outcome<Scope> | { readonly failure: Error };
  /** The kind of workload that the agents in the tenant are. */
  readonly konnectivityAgent?: 'DaemonSet' | 'Deployment';
  /** True when no agent is in the tenant any more, or none ever was. */
  readonly konnectivityGone?: boolean;
  /** The Secret of trustd, with the checksum of what its container is given. */
  readonly trustdCredentials?: SecretFact;
  /** When the first certificate in it must be renewed, in milliseconds since the epoch. */
  readonly trustdRenewal?: number;
  /** Where workers reach trustd, as `host:port`; known when the tenant is ready for them. */
  readonly trustdEndpoint?: string;
  /** True when nothing of the bootstrap of workers is in the tenant any more, or nothing ever was. */
  readonly workerBootstrapGone?: boolean;
  /** The certificate requests that were left alone; absent while not all have been looked at. */
  readonly requestsLeft?: RequestsLeft;
  /** The certificate of the proxy in the tenant, where that needs one. */
  readonly tcpProxyTls?: ProxyTls;
  readonly tcpProxyRenewal?: number;
  /** What has become of the proxy: written down, in the tenant, or there no more. */
  readonly tcpProxy?: 'recorded' | 'made' | 'gone';
}

/** A fact that an earlier phase must have learned. Throws when the phase list forgot to say so. */
export function needed<T>(fact: T | undefined, name: string): T {
  if (fact === undefined) throw new Error(`a phase uses ${name} without naming the phase that learns it`);
  return fact;
}

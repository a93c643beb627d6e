import type { Deployment, Secret, Service } from '../../api/core/kinds.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { OverrideShare, PlacementStatus } from '../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import type { MigrationStatus, PreviousShare } from '../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import type { ServiceAccountKeys } from '../../kubeadm/pki/issue.ts';
import type { ClientTls, StoreBinding, Tenancy } from '../../stores/driver.ts';
import type { Outcome } from '../../runtime/phases.ts';
import type { Endpoint, StoreOverride } from './components/control-plane-input.ts';
import type { OverridePlan } from './components/override-shares.ts';
import type { PublicationStatus } from './components/publication-status.ts';
import type { RouteVerdict } from './components/route-verdict.ts';
import type { Takeover } from './components/takeover.ts';

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
}

/** The authorities of a tenant. */
export interface Authorities {
  readonly ca: KeyPair;
  readonly frontProxyCa: KeyPair;
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
  /** What the status tells of that route. */
  readonly agentsStatus?: PublicationStatus['gateway'];
}

/** What a visit knows; phases add to it. */
export interface Scope {
  readonly tcp: TenantControlPlane;
  readonly observed: Observed;
  readonly service?: Service;
  /** The endpoint that the spec asks for. */
  readonly target?: Endpoint;
  /** The endpoint that workers and users are told of: the target once that leads to them, until then the one before. */
  readonly endpoint?: Endpoint;
  readonly publication?: PublicationFacts;
  readonly authorities?: Authorities;
  readonly authorityFacts?: SecretFacts;
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
}

/** A fact that an earlier phase must have learned. Throws when the phase list forgot to say so. */
export function needed<T>(fact: T | undefined, name: string): T {
  if (fact === undefined) throw new Error(`a phase uses ${name} without naming the phase that learns it`);
  return fact;
}

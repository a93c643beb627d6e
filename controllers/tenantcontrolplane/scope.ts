import type { Deployment, Secret, Service } from '../../api/core/kinds.ts';
import type { Manifest } from '../../api/meta.ts';
import type { DataStore } from '../../api/steward/v1alpha1/data-store.ts';
import type { DrainedTenant } from '../../api/steward/v1alpha1/data-store-drain.ts';
import type { CredentialsRotation } from '../../api/steward/v1alpha1/credentials-rotation.ts';
import type { OverrideShare, PlacementStatus } from '../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import type { MigrationStatus, PreviousShare } from '../../api/steward/v1alpha1/migration-status.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { KeyPair } from '../../kubeadm/pki/key-pair.ts';
import type { ServiceAccountKeys } from '../../kubeadm/pki/issue.ts';
import type { ClientTls, StoreBinding, Tenancy } from '../../stores/driver.ts';
import type { Endpoint, StoreOverride, TrustBundles } from './shared/control-plane-input.ts';
import type { AddonPod } from './shared/pod-parts.ts';
import type { OverridePlan } from './datastore/overrides/override-shares.ts';
import type { AddonFacts } from './addons/registry.ts';
import type { PublicationStatus } from './endpoint/exposure/exposure-status.ts';
import type { RouteVerdict } from './endpoint/exposure/route-status.ts';
import type { AutoscalerFacts } from './workload/autoscaled-condition.ts';
import type { Takeover } from './endpoint/exposure/route-switch.ts';
import type { UpgradeDecision } from './upgrade/upgrade-decision.ts';
import type { Rollout } from './workload/rollout/find-rollout.ts';
import type { EncryptionFacts } from './encryption/encryption-facts.ts';
import type { EncryptionFindings } from './encryption/encryption-status.ts';
import type { SleepDecision } from './sleep/sleep-decision.ts';
import type { QuotaFacts } from './quota/quota-facts.ts';
import type { VersionFacts } from './upgrade/version-facts.ts';

/** The objects in the management cluster when the reconcile began, read from the API server itself. */
export interface Observed {
  readonly service: Service | undefined;
  readonly deployment: Deployment | undefined;
  /** The Secrets of the tenant by name. */
  readonly secrets: ReadonlyMap<string, Secret>;
  /** The DataStore in use; undefined when it does not exist. */
  readonly dataStore: DataStore | undefined;
  /** The existing DataStores of overrides, by name. */
  readonly overrideStores: ReadonlyMap<string, DataStore>;
  /** Why some of these do not accept tenants from the namespace, by name. */
  readonly refusals: ReadonlyMap<string, string>;
}

/** The CAs of a tenant. */
export interface Authorities {
  /** The pair that signs certificates which the tenant's own API server verifies. */
  readonly ca: KeyPair;
  readonly frontProxyCa: KeyPair;
  /** PEM of every cluster CA that clients must trust, that of `ca` first. */
  readonly trusted: string;
  /** The pairs that sign certificates which others verify: kubelets, clients and extension API servers. */
  readonly forOthers: { readonly ca: KeyPair; readonly frontProxyCa: KeyPair };
  /** Which Secrets hold a bundle of CAs for the pods. */
  readonly bundled: TrustBundles;
  readonly serviceAccount: ServiceAccountKeys;
  /** True when this reconcile replaced the CA on request. */
  readonly rotated: boolean;
}

/** A Secret as the status and the pods' labels describe it. */
export interface SecretFact {
  readonly name: string;
  readonly checksum: string;
}

/** The Secrets that hold the tenant's PKI, by the component label. */
export type SecretFacts = Readonly<Record<string, SecretFact>>;

/** The tenant's tenancy in its datastore. */
export interface StoreFacts {
  readonly driver: string;
  readonly dataStoreName: string;
  readonly binding: StoreBinding;
  readonly tenancy: Tenancy;
  readonly tls: ClientTls | undefined;
  readonly config: SecretFact;
  readonly certificate: SecretFact;
  /** Checksum of the datastore's endpoints and credentials and of the tenancy's names: recorded once the tenancy exists. */
  readonly setup: string;
}

/** The tenant's tenancies in the datastores of overrides. */
export interface OverrideFacts {
  /** The overrides as the pods need them. */
  readonly bindings: readonly StoreOverride[];
  /** The checksum that is recorded once a tenancy exists, by the name of its DataStore. */
  readonly setups: ReadonlyMap<string, string>;
  /** The Secret whose certificate opens all of the datastores; absent without overrides. */
  readonly certificate?: SecretFact;
}

/** The state of a migration after this reconcile. */
export interface MigrationFacts {
  readonly record: MigrationStatus;
  /** When to check again, in milliseconds; absent when a watch reports it. */
  readonly afterMs?: number;
  /** The copy that a migration which has just succeeded leaves in its source. */
  readonly leftBehind?: PreviousShare;
}

/** How the endpoint is exposed besides its Service. */
export interface PublicationFacts {
  /** Whether the routes may replace the previous exposure. */
  readonly takeover: Takeover;
  /** True while routes have rules that the spec no longer requires. */
  readonly hasFormer: boolean;
  /** The names of the routes; absent when they cannot be created. */
  readonly made: readonly string[] | undefined;
  readonly status: PublicationStatus;
  /** Whether the routes lead to the control plane; absent when none are wanted. */
  readonly verdict?:
    | RouteVerdict
    | { readonly leads: false; readonly reason: 'KindNotInstalled' | 'HostNameTaken'; readonly message: string };
  /** The same for the servers of add-ons that have routes of their own, and what status those have; by the name of the port. */
  readonly servers?: Readonly<
    Record<string, { readonly verdict: RouteVerdict; readonly status: PublicationStatus['gateway'] }>
  >;
}

/** What is known of the activator. */
export interface ActivatorFacts {
  readonly port?: number;
  /** The addresses of the tenant's nodes, as they are noted for it. */
  readonly nodes?: string;
  /** Why calls do not wake the control plane up. */
  readonly trouble?: string;
}

/** The facts of a reconcile; phases add to them. */
export interface Scope {
  /** The object as its author wrote it, in every phase; its status says what this reconcile has decided about its sleep. */
  readonly tcp: TenantControlPlane;
  /** Absent where nothing was decided. */
  readonly sleep?: SleepDecision;
  readonly observed: Observed;
  readonly versions: VersionFacts;
  /** The version to work towards, as the preflight decided: `targetVersion` reads it. */
  readonly upgrade?: UpgradeDecision;
  /** The rollout of new pods that is under way, and its next step; absent when none is. */
  readonly rollout?: Rollout | undefined;
  readonly service?: Service;
  /** The Service as it was applied. */
  readonly serviceManifest?: Manifest;
  /** The endpoint in the spec. */
  readonly target?: Endpoint;
  /** The endpoint that workers and users know: the target once clients can reach it, until then the previous one. */
  readonly endpoint?: Endpoint;
  /** True when a router leads to that endpoint by its name. */
  readonly isRouted?: boolean;
  readonly publication?: PublicationFacts;
  readonly authorities?: Authorities;
  readonly authorityFacts?: SecretFacts;
  /** The record of the rotations, when this reconcile changes it. */
  readonly rotation?: CredentialsRotation;
  readonly certificateFacts?: SecretFacts;
  readonly kubeconfigFacts?: SecretFacts;
  /** When the first certificate must be renewed, in milliseconds since the epoch. */
  readonly certificateRenewal?: number;
  readonly kubeconfigRenewal?: number;
  /** When the certificate of Prometheus must be renewed. */
  readonly monitoringRenewal?: number;
  /** The kubeconfig with all permissions, which names the endpoint: cluster-info is created from it. */
  readonly superAdminKubeconfig?: string;
  /** The kubeconfig with which the manager works in the tenant. */
  readonly operatorKubeconfig?: string;
  /** The DataStore that this reconcile has chosen; not recorded yet. */
  readonly placement?: PlacementStatus;
  /** Where the tenant is moved because its DataStore is drained, when this reconcile changes that. */
  readonly drain?: { readonly record: DrainedTenant | undefined };
  readonly store?: StoreFacts;
  /** True when the tenancy exists in the datastore. */
  readonly tenancyEnsured?: boolean;
  readonly overridePlan?: OverridePlan;
  readonly overrides?: OverrideFacts;
  /** The remaining tenancies after unwanted ones were removed. */
  readonly overridesLeft?: readonly OverrideShare[];
  /** The migration under way, as the status must record it. */
  readonly migration?: MigrationFacts;
  /** The remaining old copies of the data, after one was removed. */
  readonly previous?: readonly PreviousShare[];
  /** Absent while the tenant's data is, and always was, in plain text. */
  readonly encryption?: EncryptionFacts;
  readonly encryptionFindings?: EncryptionFindings;
  readonly quota?: QuotaFacts;
  readonly kubeadmConfig?: SecretFact;
  /** What the files that configure kube-apiserver add to the pods. */
  readonly configuration?: AddonPod;
  readonly deployment?: Deployment;
  /** True while the pods are not those of the spec, although the Deployment is at rest: their rollout failed, or has to wait. */
  readonly podsAreFormer?: boolean;
  /** Absent where no autoscaler is wanted. */
  readonly autoscaler?: AutoscalerFacts;
  /** True when the API server answered and the tenant has what its first users need. */
  readonly tenantPrepared?: boolean;
  /** Where calls reach the activator while the control plane sleeps; without a port if they do not. */
  readonly activator?: ActivatorFacts;
  /** True when nothing inside the tenant tells requests in the background apart anymore. */
  readonly backgroundFlowRemoved?: boolean;
  /** True while the tenant denies writes because of its spec. */
  readonly writesDenied?: boolean;
  readonly bootstrapChecksum?: string;
  /** What was learned of each add-on. */
  readonly addons: AddonFacts;
}

/** The scope with what phases learned; several phases may learn something of one add-on. */
export function withLearned(scope: Scope, learned: readonly (Partial<Scope> | undefined)[]): Scope {
  const addons: Record<string, object> = { ...scope.addons };
  for (const found of learned) {
    for (const [name, facts] of Object.entries<object>(found?.addons ?? {}))
      addons[name] = { ...addons[name], ...facts };
  }
  return Object.assign({}, scope, ...learned, { addons }) as Scope;
}

/** A fact that an earlier phase must have learned. Throws when the phase list does not order them. */
export function needed<T>(fact: T | undefined, name: string): T {
  if (fact === undefined) throw new Error(`a phase uses ${name} without naming the phase that learns it`);
  return fact;
}

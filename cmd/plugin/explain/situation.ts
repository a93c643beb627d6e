import type { CapiCluster } from '../../../api/cluster-api/kinds.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { Deployment, Job, Lease, Pod, ReplicaSet, Service } from '../../../api/core/kinds.ts';
import type { Condition, NamespacedResource, Resource } from '../../../api/meta.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** An Event, reduced to the fields that are read. */
export interface EventObject extends NamespacedResource {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly deprecatedCount?: number;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
  readonly regarding?: { readonly kind?: string; readonly name?: string; readonly namespace?: string };
}

/** Everything that an explanation is made of. What does not exist, or was not read, is absent. */
export interface Situation {
  readonly now: Date;
  readonly namespace: string;
  readonly name: string;
  readonly tenantControlPlane?: TenantControlPlane | undefined;
  readonly stewardControlPlane?: StewardControlPlane | undefined;
  readonly cluster?: CapiCluster | undefined;
  readonly dataStore?: DataStore | undefined;
  readonly deployment?: Deployment | undefined;
  readonly service?: Service | undefined;
  readonly replicaSets: readonly ReplicaSet[];
  readonly pods: readonly Pod[];
  readonly events: readonly EventObject[];
  /** The Job that migrates the data, and its pods. */
  readonly migrationJob?: Job | undefined;
  readonly migrationPods: readonly Pod[];
  /** The end of the log of a container that does not run, by `pod/container`. */
  readonly logs: Readonly<Record<string, string>>;
  /** The Lease of the managers; `unread` if it may not be read. */
  readonly lease: Lease | undefined | 'unread';
  /** The namespace of the managers. */
  readonly managerNamespace: string;
  readonly unread: readonly string[];
}

/** Something with conditions. */
type Conditioned =
  (Resource & { readonly status?: { readonly conditions?: readonly Condition[] } | undefined }) | undefined;

/** A condition of an object. */
export function conditionIn(object: Conditioned, type: string): Condition | undefined {
  return object?.status?.conditions?.find((condition) => condition.type === type);
}

import type { Deployment, EndpointSlice, Pod, ReplicaSet, Service } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { hasData } from '../../../api/steward/v1alpha1/data-owner.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Identity } from './identity.ts';
import { isHeld } from './held.ts';
import { readImportRecord } from './import-record.ts';
import type { ImportRecord } from './import-record.ts';
import type { KamajiControlPlane, KamajiDataStore } from './kamaji-kinds.ts';
import { kamajiNames } from './kamaji-names.ts';

/** An object in the namespace that has a controller; only its metadata is known. */
export interface Dependent {
  readonly kind: KindRef;
  readonly object: Pick<Resource, 'metadata'>;
}

/** All that an import from Kamaji decides by, as it was read at one moment. */
export interface KamajiFacts {
  readonly namespace: string;
  readonly name: string;
  readonly now: Date;
  /** The TenantControlPlane of Kamaji. */
  readonly old?: KamajiControlPlane | undefined;
  readonly oldStore?: KamajiDataStore | undefined;
  /** All others of Kamaji, in all namespaces. */
  readonly others: readonly KamajiControlPlane[];
  /** That of Steward. */
  readonly ours?: TenantControlPlane | undefined;
  /** Name of the DataStore of Steward that is to be used, and whether a person chose it. */
  readonly storeName: string;
  readonly isStoreChosen: boolean;
  readonly store?: DataStore | undefined;
  /** Objects of the namespace, except pods and what makes them. */
  readonly dependents: readonly Dependent[];
  readonly service?: Service | undefined;
  readonly deployment?: Deployment | undefined;
  /** Those of Kamaji; once they have been released, nothing controls the ReplicaSets. */
  readonly replicaSets: readonly ReplicaSet[];
  readonly pods: readonly Pod[];
  readonly slices: readonly EndpointSlice[];
  readonly identity: Identity;
  /** What admission answers if it refuses the TenantControlPlane of Steward. */
  readonly refusal?: string | undefined;
}

/** What must not change, as it was recorded. */
export function recordIn({ old }: KamajiFacts): ImportRecord | undefined {
  return readImportRecord(old?.metadata.annotations?.[annotations.importRecord]);
}

/** True if Kamaji leaves the control plane alone because of an import. */
export function isBegun(facts: KamajiFacts): boolean {
  return facts.old?.metadata.annotations?.[kamajiNames.paused] !== undefined && recordIn(facts) !== undefined;
}

/** True once Steward reconciles the control plane: there is nothing to prepare anymore. */
export function isReleased({ ours }: KamajiFacts): boolean {
  return ours !== undefined && hasData(ours) && !isHeld(ours);
}

/** The pods to which the Service leads, by name. */
export function reachedPods({ slices }: Pick<KamajiFacts, 'slices'>): ReadonlySet<string> {
  const endpoints = slices.flatMap((slice) => slice.endpoints ?? []);
  return new Set(
    endpoints
      .filter(({ conditions }) => conditions?.ready !== false)
      .flatMap(({ targetRef }) => (targetRef?.kind === 'Pod' && targetRef.name !== undefined ? [targetRef.name] : [])),
  );
}

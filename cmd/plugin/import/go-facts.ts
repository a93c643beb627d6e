import type { Deployment, EndpointSlice } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Identity } from './identity.ts';
import { isHeld } from './held.ts';
import { readImportRecord } from './import-record.ts';
import type { ImportRecord } from './import-record.ts';

/** All that an import from the Go Steward decides by, as it was read at one moment. */
export interface GoFacts {
  readonly namespace: string;
  readonly name: string;
  readonly now: Date;
  readonly tcp?: TenantControlPlane | undefined;
  /** All TenantControlPlanes of the cluster, this one included. */
  readonly all: readonly TenantControlPlane[];
  readonly store?: DataStore | undefined;
  /** The Deployments of managers of the Go Steward. */
  readonly formerManagers: readonly Deployment[];
  /** True if a Deployment of a manager of this Steward exists. */
  readonly isInstalled: boolean;
  readonly deployment?: Deployment | undefined;
  readonly slices: readonly EndpointSlice[];
  readonly identity: Identity;
}

/** What must not change, as it was recorded. */
export function recordIn({ tcp }: GoFacts): ImportRecord | undefined {
  return readImportRecord(tcp?.metadata.annotations?.[annotations.importRecord]);
}

/** True once a manager of this Steward has seen it: the Go Steward reports no conditions. */
export function isSeenBySteward({ status }: Pick<TenantControlPlane, 'status'>): boolean {
  return (status?.conditions ?? []).length > 0;
}

/** True once this Steward may reconcile the control plane; the last step removes the record. */
export function isReleased({ tcp }: GoFacts): boolean {
  return tcp !== undefined && isSeenBySteward(tcp) && !isHeld(tcp);
}

/** True for a manager of the Go Steward, whose pod, unlike that of Steward, does not get its own UID. */
export function isGoManager({ spec }: Deployment): boolean {
  const manager = spec?.template.spec?.containers.find(({ name }) => name === 'manager');
  return manager !== undefined && manager.env?.some(({ name }) => name === 'POD_UID') !== true;
}

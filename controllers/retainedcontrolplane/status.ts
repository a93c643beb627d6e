import type { ReasonOf, StatedCondition } from '../../api/conditions.ts';
import { stateCondition } from '../../api/conditions.ts';
import type {
  RetainedControlPlane,
  RetainedControlPlaneStatus,
} from '../../api/steward/v1alpha1/retained-control-plane.ts';
import type { UnreadableRecord } from '../../api/steward/v1alpha1/unreadable-record.ts';
import { setCondition } from '../../runtime/reconcile/conditions.ts';

/** Why a RetainedControlPlane cannot be deleted yet. */
export interface Waiting {
  readonly reason: ReasonOf<'RetainedControlPlane', 'Deleting'>;
  readonly message: string;
  readonly afterMs?: number;
}

/** The status while the record waits for its adopter. `unreadable` says why it cannot be adopted. */
export function retainedStatus(
  retained: RetainedControlPlane,
  unreadable: UnreadableRecord | undefined,
  now: Date,
): RetainedControlPlaneStatus {
  const { adopterUID } = retained.spec;
  if (unreadable !== undefined) {
    const message = `the record cannot be read: ${unreadable.why}`;
    const stated = { type: 'Adoptable', status: 'False', reason: 'RecordUnreadable', message } as const;
    return withCondition(retained, stateCondition('RetainedControlPlane', stated), now);
  }
  const message =
    adopterUID === undefined
      ? 'waiting for an adopter: set spec.adopterUID to the UID of the TenantControlPlane that is to adopt the data'
      : `waiting until the TenantControlPlane with UID ${adopterUID} has adopted the data`;
  const stated = { type: 'Adoptable', status: 'True', reason: 'Adoptable', message } as const;
  return withCondition(retained, stateCondition('RetainedControlPlane', stated), now);
}

/** The status while the object is being deleted. */
export function deletingStatus(
  retained: RetainedControlPlane,
  { reason, message }: Waiting,
  now: Date,
): RetainedControlPlaneStatus {
  const stated = { type: 'Deleting', status: 'True', reason, message } as const;
  return withCondition(retained, stateCondition('RetainedControlPlane', stated), now);
}

function withCondition(
  { metadata, status }: RetainedControlPlane,
  condition: StatedCondition,
  now: Date,
): RetainedControlPlaneStatus {
  const at = { generation: metadata.generation, now };
  return { observedGeneration: at.generation, conditions: setCondition(status?.conditions ?? [], condition, at) };
}

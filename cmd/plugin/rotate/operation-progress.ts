import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Progress } from '../control-plane/follow-object.ts';
import { conditionLine } from '../control-plane/ready-condition.ts';
import type { Operation } from './rotatable.ts';

/** Whether the manager has forgotten an operation, so that it can be requested again. */
export function forgottenProgress(operation: Operation, { status }: TenantControlPlane): Progress {
  const isKnown = status?.certificates?.rotation?.operation === operation;
  const line = `${operation} was requested before; it is requested again`;
  return { state: isKnown ? 'waiting' : 'done', line };
}

/** How far a rotation of CAs or of the service-account key is. */
export function operationProgress(operation: Operation, { status }: TenantControlPlane): Progress {
  const rotation = status?.certificates?.rotation;
  const rotating = status?.conditions?.find(({ type }) => type === 'Rotating');
  // The refusal of another operation is an old one; with none, a Secret is in the way of the requested one.
  if (rotation?.refusal !== undefined && (rotation.operation ?? operation) === operation) {
    return { state: 'failed', line: rotation.refusal };
  }
  if (rotation?.operation !== operation) {
    return { state: 'waiting', line: 'the manager has not seen the request yet' };
  }
  const wanted = operation.endsWith('-start') ? 'Prepared' : 'Completed';
  const phases = [
    ...(operation.includes('-serviceaccount-') ? [] : [rotation.certificateAuthorities?.phase]),
    ...(operation.includes('-ca-') ? [] : [rotation.serviceAccountKey?.phase]),
  ];
  const line = rotating === undefined ? operation : conditionLine(rotating);
  return { state: phases.every((phase) => phase === wanted) ? 'done' : 'waiting', line };
}

import type { Rotation } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { without } from '../../shared/without.ts';

/** True while the next action of a rotation is Steward's, not the user's. */
export function isMoving(rotation: Rotation | undefined): boolean {
  return rotation?.phase === 'Preparing' || rotation?.phase === 'Completing';
}

/** Whole seconds, as metav1.Time is written. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

/** The record after its current step has been reached everywhere. */
export function advanced(before: Rotation, now: Date): Rotation {
  const rotation = without(before, 'message');
  if (before.step === 'Trusting') return { ...rotation, step: 'Signing' };
  if (before.step === 'Signing') return { ...rotation, phase: 'Prepared', lastInitiationFinishedTime: seconds(now) };
  if (before.step === 'Serving') return { ...rotation, step: 'Retiring' };
  return { ...without(rotation, 'step'), phase: 'Completed', lastCompletionTime: seconds(now) };
}

import type { CredentialsRotation, RotationPhase } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { annotations } from '../../../../api/names.ts';

/** Status, reason and message of a condition. */
interface Finding {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const subjects = {
  certificateAuthorities: { words: 'CAs', operation: 'rotate-ca-complete' },
  serviceAccountKey: { words: 'service-account keys', operation: 'rotate-serviceaccount-key-complete' },
} as const;

/** The most important phase comes first. */
const urgency: readonly RotationPhase[] = ['Preparing', 'Completing', 'Prepared', 'Completed'];

/** The condition about rotations; undefined when there never was one. */
export function rotatingCondition(
  record: CredentialsRotation | undefined,
  error: string | undefined,
): Finding | undefined {
  const all = (['certificateAuthorities', 'serviceAccountKey'] as const).flatMap((subject) => {
    const rotation = record?.[subject];
    return rotation === undefined ? [] : [{ ...subjects[subject], ...rotation }];
  });
  const phase = urgency.find((one) => all.some((rotation) => rotation.phase === one));
  const refusal = record?.refusal ?? '';
  if (phase === undefined || (phase === 'Completed' && refusal !== '')) {
    return refusal === '' ? undefined : { status: 'False', reason: 'Refused', message: refusal };
  }
  const lines = all.map(({ words, phase: at, step, message = '', operation }) => {
    const place = `the rotation of the ${words} is ${at}`;
    if (at === 'Completed') return place;
    if (at === 'Prepared') {
      return `${place}; once all workers and users have switched, set the annotation ${annotations.operation}=${operation}`;
    }
    const waits = error ?? message;
    const now = step === undefined ? '' : ` (step ${step})`;
    return `${place}${now}${waits === '' ? '' : `: ${waits}`}`;
  });
  const message = [...lines, refusal].filter((line) => line !== '').join('; ');
  return { status: phase === 'Completed' ? 'False' : 'True', reason: phase, message };
}

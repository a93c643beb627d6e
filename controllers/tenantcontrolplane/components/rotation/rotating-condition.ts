import type { CredentialsRotation, RotationPhase } from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { annotations } from '../../../../api/names.ts';

/** What a condition says. */
interface Finding {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const subjects = {
  certificateAuthorities: { words: 'certificate authorities', operation: 'rotate-ca-complete' },
  serviceAccountKey: { words: 'service-account key', operation: 'rotate-serviceaccount-key-complete' },
} as const;

/** What tells most comes first. */
const urgency: readonly RotationPhase[] = ['Preparing', 'Completing', 'Prepared', 'Completed'];

/** What people are told of rotations; undefined when there never was one. */
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
    if (at === 'Completed') return `${words}: Completed`;
    if (at === 'Prepared') {
      return `${words}: Prepared; when all workers and users have the new, annotate with ${annotations.operation}=${operation}`;
    }
    const waits = error ?? message;
    return `${words}: ${at}, ${step ?? ''}${waits === '' ? '' : `: ${waits}`}`;
  });
  const message = [...lines, refusal].filter((line) => line !== '').join('; ');
  return { status: phase === 'Completed' ? 'False' : 'True', reason: phase, message };
}

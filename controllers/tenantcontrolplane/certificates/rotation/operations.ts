import type {
  CredentialsRotation,
  Rotation,
  RotationSubject,
} from '../../../../api/steward/v1alpha1/credentials-rotation.ts';
import { annotations } from '../../../../api/names.ts';
import { without } from '../../shared/without.ts';

interface Operation {
  readonly act: 'start' | 'complete';
  readonly on: readonly RotationSubject[];
}

/** The operations that the annotation may request; the names are Gardener's. */
const operations: ReadonlyMap<string, Operation> = new Map([
  ['rotate-ca-start', { act: 'start', on: ['certificateAuthorities'] }],
  ['rotate-ca-complete', { act: 'complete', on: ['certificateAuthorities'] }],
  ['rotate-serviceaccount-key-start', { act: 'start', on: ['serviceAccountKey'] }],
  ['rotate-serviceaccount-key-complete', { act: 'complete', on: ['serviceAccountKey'] }],
  ['rotate-credentials-start', { act: 'start', on: ['certificateAuthorities', 'serviceAccountKey'] }],
  ['rotate-credentials-complete', { act: 'complete', on: ['certificateAuthorities', 'serviceAccountKey'] }],
]);

const words: Readonly<Record<RotationSubject, string>> = {
  certificateAuthorities: 'CAs',
  serviceAccountKey: 'service-account keys',
};

/** Why an operation is refused, and what to do. */
export interface Refusal {
  readonly reason: string;
  readonly remedy: string;
}

function refusedStart(subject: RotationSubject, before: Rotation | undefined): Refusal | undefined {
  if (before === undefined || before.phase === 'Completed') return undefined;
  const reason = `cannot start a rotation of the ${words[subject]} while another one is ${before.phase}`;
  const remedy =
    before.phase === 'Completing'
      ? 'wait until that one is Completed'
      : 'wait until that one is Prepared and complete it before starting another';
  return { reason, remedy };
}

function refusedCompletion(subject: RotationSubject, before: Rotation | undefined): Refusal | undefined {
  if (before?.phase === 'Prepared') return undefined;
  const seen = before === undefined ? 'none was started' : `it is ${before.phase}`;
  const reason = `cannot complete a rotation of the ${words[subject]} that is not Prepared: ${seen}`;
  return { reason, remedy: 'wait until the condition Rotating reports Prepared' };
}

/** Why an operation is refused in the current state; undefined when it is allowed. */
export function refusalOf(requested: string, record: CredentialsRotation | undefined): Refusal | undefined {
  const operation = operations.get(requested);
  if (operation === undefined) {
    const remedy = `use one of ${[...operations.keys()].join(', ')}`;
    return { reason: 'is not a known operation', remedy };
  }
  const refused = operation.act === 'start' ? refusedStart : refusedCompletion;
  return operation.on.map((subject) => refused(subject, record?.[subject])).find((refusal) => refusal !== undefined);
}

/** True when the operation rotates CAs. */
export function startsAuthorities(requested: string): boolean {
  const operation = operations.get(requested);
  return operation?.act === 'start' && operation.on.includes('certificateAuthorities');
}

function after(act: Operation['act'], subject: RotationSubject, before: Rotation | undefined, now: string): Rotation {
  if (act === 'start' || before === undefined) {
    return { ...before, phase: 'Preparing', step: 'Trusting', lastInitiationTime: now, message: '' };
  }
  const step = subject === 'certificateAuthorities' ? 'Serving' : 'Retiring';
  return { ...before, phase: 'Completing', step, lastCompletionTriggeredTime: now, message: '' };
}

/** The record after the operation was accepted. */
export function taken(requested: string, record: CredentialsRotation | undefined, now: string): CredentialsRotation {
  const { act, on } = operations.get(requested) ?? { act: 'start', on: [] };
  const begun = on.map((subject) => [subject, after(act, subject, record?.[subject], now)]);
  return { ...withoutRefusal(record), ...(Object.fromEntries(begun) as CredentialsRotation), operation: requested };
}

/** The record without a refusal. */
export function withoutRefusal(record: CredentialsRotation | undefined): CredentialsRotation {
  return without(record ?? {}, 'refusal', 'operation');
}

/** A refusal as one sentence. */
export function refusalText(requested: string, { reason, remedy }: Refusal): string {
  return `the value ${requested} of the annotation ${annotations.operation} ${reason}; ${remedy}`;
}

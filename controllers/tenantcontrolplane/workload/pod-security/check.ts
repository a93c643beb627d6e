import type { EvaluatedPod } from './evaluated-pod.ts';
import type { PodSecurityStandard } from './standard.ts';

/** A field that a standard forbids. */
export interface Finding {
  readonly field: string;
  readonly value: string;
  /** Completes the sentence “<field> <value> …”. */
  readonly wrong: string;
  /** What the author can do instead. */
  readonly instead: string;
}

/** One rule of the Pod Security Standards. */
export interface PodCheck {
  /** The name that Kubernetes uses. */
  readonly id: string;
  readonly standard: Exclude<PodSecurityStandard, 'privileged'>;
  /** The check of the wider standard that this one replaces. */
  readonly supersedes?: string;
  readonly findings: (pod: EvaluatedPod) => readonly Finding[];
}

const leftOut = 'leave it out';

/** A finding about a field that may be left out. */
export function tooMuch(field: string, value: unknown, wrong: string, instead = leftOut): Finding {
  return { field, value: typeof value === 'string' ? value : JSON.stringify(value), wrong, instead };
}

/** A finding about a field that must be set. */
export function tooLittle(field: string, value: unknown, instead: string): Finding {
  return {
    field,
    value: value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value),
    wrong: value === undefined ? 'is not set' : 'is not the required value',
    instead,
  };
}

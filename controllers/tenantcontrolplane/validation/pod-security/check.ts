import type { JudgedPod } from './judged-pod.ts';
import type { PodSecurityStandard } from './standard.ts';

/** One thing that a standard does not permit. */
export interface Finding {
  readonly field: string;
  readonly value: string;
  /** Completes the sentence “<field> <value> …”. */
  readonly wrong: string;
  /** What the author can write instead. */
  readonly instead: string;
}

/** One rule of the Pod Security Standards. */
export interface PodCheck {
  /** Kubernetes' own name for it. */
  readonly id: string;
  readonly standard: Exclude<PodSecurityStandard, 'privileged'>;
  /** The check of the wider standard that this one takes the place of. */
  readonly supersedes?: string;
  readonly findings: (pod: JudgedPod) => readonly Finding[];
}

const leftOut = 'leave it out';

/** A finding about a field that may be left out. */
export function tooMuch(field: string, value: unknown, wrong: string, instead = leftOut): Finding {
  return { field, value: typeof value === 'string' ? value : JSON.stringify(value), wrong, instead };
}

/** A finding about a field that has to be there. */
export function tooLittle(field: string, value: unknown, instead: string): Finding {
  return {
    field,
    value: value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value),
    wrong: value === undefined ? 'is not set' : 'is not what is asked for',
    instead,
  };
}

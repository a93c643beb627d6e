import type { Plan } from '../plan/plan-result.ts';
import type { Identity } from './identity.ts';
import { nextStep } from './import-step.ts';
import type { ImportStep } from './import-step.ts';

/** Where control planes are imported from. */
export const importSources = ['kamaji', 'go-steward'] as const;
export type ImportSource = (typeof importSources)[number];

/** What an import has done, or would do. */
export interface ImportReport {
  readonly from: ImportSource;
  readonly namespace: string;
  readonly name: string;
  readonly result: 'planned' | 'refused' | 'imported' | 'undone';
  /** Why nothing can be taken over. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly identity: Identity;
  readonly steps: readonly { readonly id: string; readonly title: string; readonly done: boolean }[];
  /** What the manager will change once it reconciles the control plane. */
  readonly plan?: Plan;
}

/** The steps, and which of them are done: all before the first that is not. */
export function stepStates<S>(steps: readonly ImportStep<S>[], facts: S): ImportReport['steps'] {
  const found = nextStep(steps, facts);
  const at = found === undefined ? steps.length : steps.indexOf(found.step);
  return steps.map(({ id, title }, index) => ({ id, title, done: index < at }));
}

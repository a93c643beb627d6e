import type { Plan } from '../plan/plan-result.ts';
import type { Identity } from './identity.ts';
import type { ImportStep } from './import-step.ts';

/** Where a control plane is, and how workers and users know it. */
export interface Located {
  readonly namespace: string;
  readonly identity: Identity;
}

/** One way to import, for control planes of one manager: what is read, what is wrong with it, and the steps there and back. */
export interface ImportWay<S extends Located> {
  readonly read: () => Promise<S>;
  readonly steps: readonly ImportStep<S>[];
  readonly undoSteps: readonly ImportStep<S>[];
  /**
   * Why there is nothing to do; undefined if there is.
   * @throws PluginError if there is no such control plane.
   */
  readonly over: (facts: S) => string | undefined;
  readonly problems: (facts: S) => readonly string[];
  readonly warnings: (facts: S) => readonly string[];
  /** Why there is no way back; undefined if there is one. */
  readonly noWayBack: (facts: S) => string | undefined;
  /** What the manager will change, if that can be said. */
  readonly plan: (facts: S) => Promise<Plan | undefined>;
}

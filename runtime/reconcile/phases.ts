import type { Context } from './controller.ts';

/** What a phase found for a condition besides its own outcome: phases that need it run all the same. */
export type Finding = { readonly condition: string } & (
  { readonly outcome: Outcome<never> } | { readonly error: unknown }
);

/** The outcome of a phase. Waiting is an outcome, not an error. */
export type Outcome<S> =
  | {
      readonly is: 'done';
      readonly learned?: Partial<S>;
      readonly message?: string;
      readonly findings?: readonly Finding[];
      /** Requeue after this time: something is left that no event will report. */
      readonly afterMs?: number;
      /** True when the phase got further in work that takes several reconciles, such as a list that it reads by pages. */
      readonly hasMore?: boolean;
    }
  | {
      readonly is: 'waiting';
      readonly reason: string;
      readonly message: string;
      readonly afterMs?: number;
      /**
       * The error of a server elsewhere, or a `recheckable` error, if the phase waits for nothing else: `afterMs` is then
       * the delay for repeating the request, not for a reconcile.
       */
      readonly elsewhere?: unknown;
    };

/** One step of a reconcile. Scopes are frozen; facts are returned as `learned`. */
export interface Phase<S> {
  readonly name: string;
  /** The condition this phase answers for, if any. Phases without one are needed only by others without one. */
  readonly condition?: string;
  /** True when the condition describes what comes before this phase, which is not affected while the phase is blocked. */
  readonly isSilentWhenBlocked?: boolean;
  /** Phases that must be done before; all others run, side by side. */
  readonly needs?: readonly string[];
  /** Phases that must have ended before, with any outcome; what they learned, if anything, is available. */
  readonly after?: readonly string[];
  run(scope: Readonly<S>, ctx: Context): Promise<Outcome<S>>;
}

/**
 * One phase's line in a report, or one of its findings in the form of an outcome. Without outcome and error it did not run:
 * `blockedBy` names the first need that failed.
 */
export interface ReportLine<S> {
  readonly phase: Phase<S>;
  readonly outcome?: Outcome<S>;
  readonly error?: unknown;
  readonly blockedBy?: string;
  readonly tookMs: number;
}

export interface Report<S> {
  readonly scope: Readonly<S>;
  readonly lines: readonly ReportLine<S>[];
}

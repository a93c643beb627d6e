import type { ConditionTypeOf, ReasonOf } from '../../../api/conditions.ts';

type Type = ConditionTypeOf<'ClusterAddon'>;

/** A condition of a ClusterAddon that is not met, and when to check again, in milliseconds. */
export type Blocker = {
  [T in Type]: {
    readonly type: T;
    readonly reason: ReasonOf<'ClusterAddon', T>;
    readonly message: string;
    /** Absent: a watch event follows. */
    readonly afterMs?: number;
  };
}[Type];

/** What keeps a reconcile from going on. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly blocker: Blocker;
  constructor(blocker: Blocker, options?: ErrorOptions) {
    super(blocker.message, options);
    this.blocker = blocker;
  }
}

/** Delays before a requeue where no watch event follows, in milliseconds. */
export const lookAgain = { soon: 2_000, usual: 10_000, late: 60_000 } as const;

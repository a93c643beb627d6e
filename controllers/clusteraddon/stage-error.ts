import type { ConditionTypeOf, ReasonOf } from '../../api/conditions.ts';

type Type = ConditionTypeOf<'ClusterAddon'>;

/** A condition of a ClusterAddon that is not met, and how soon to look again, in milliseconds. */
export type Obstacle = {
  [T in Type]: {
    readonly type: T;
    readonly reason: ReasonOf<'ClusterAddon', T>;
    readonly message: string;
    /** Absent: an event tells. */
    readonly afterMs?: number;
  };
}[Type];

/** What keeps a visit from going on. */
export class StageError extends Error {
  override readonly name = 'StageError';
  readonly obstacle: Obstacle;
  constructor(obstacle: Obstacle, options?: ErrorOptions) {
    super(obstacle.message, options);
    this.obstacle = obstacle;
  }
}

/** How soon is looked again, in milliseconds, where no event tells. */
export const lookAgain = { soon: 2_000, usual: 10_000, late: 60_000 } as const;

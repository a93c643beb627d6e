import type { ChaosWorld } from '../world/chaos-world.ts';

/** Something that a person does, and what is expected to come of it. */
export interface Act {
  /** For people, to complete "it does not come to this:". */
  readonly goal: string;
  readonly act: (world: ChaosWorld) => Promise<void>;
  readonly reached: (world: ChaosWorld) => Promise<boolean>;
  /** What a person does meanwhile when a condition requests it. */
  readonly remedy?: (world: ChaosWorld) => Promise<void>;
  /** Seconds that it may take; ten minutes by default. */
  readonly seconds?: number;
}

/** An operation of the product, from where it begins to where it is complete. */
export interface Play {
  readonly name: string;
  /** For people. */
  readonly about: string;
  /** Leads a new world to where the operation begins. A manager may work meanwhile; none is left at work. */
  readonly prepare: (world: ChaosWorld) => Promise<void>;
  /** Absent when a manager is at work from the beginning on; true if the first call of a manager belongs to the operation. */
  readonly fromStart?: boolean;
  readonly acts: readonly Act[];
  /** Acknowledged operations that are gone, for people; by default those that the tenant's data does not have at the end. */
  readonly lost?: (world: ChaosWorld) => Promise<readonly string[]>;
}

import type { MadeCall } from '../world/product-call.ts';
import type { Strike, Striking } from '../world/chaos-world.ts';

/** Something that happens at one call of the product. */
export interface Fault {
  /** As `--fault` takes it. */
  readonly name: string;
  /** For people, to complete "at one call". */
  readonly about: string;
  /** Whether it can happen at this call. */
  readonly applies: (call: MadeCall) => boolean;
  readonly strike: Striking;
}

export type { Strike };

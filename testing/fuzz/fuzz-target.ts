export type FuzzInput = string | Uint8Array;

/** A parser of bytes that somebody outside the manager's trust can choose. */
export interface FuzzTarget {
  /** Name of its file and of its corpus. */
  readonly name: string;
  /** Whose bytes these are. */
  readonly from: string;
  /** Valid inputs, from which others are made. */
  readonly seeds: () => readonly FuzzInput[] | Promise<readonly FuzzInput[]>;
  /** What the parser may throw. Anything else is a mistake. */
  readonly refusals: readonly (abstract new (...args: never) => Error)[];
  /** Parses an input; throws, too, when a result is not what the parser promises. */
  readonly parse: (input: Buffer) => unknown;
}

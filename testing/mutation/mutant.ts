/** One small change of one place in the product's code, that some test ought to notice. */
export interface Mutant {
  /** Of the file's path, the enclosing function, the operator and the text: it outlives changes elsewhere in the file. */
  readonly id: string;
  /** From the repository's root, with slashes. */
  readonly file: string;
  readonly line: number;
  /** The names of the enclosing classes and functions, outermost first. */
  readonly within: string;
  readonly operator: string;
  /** How likely the place is taken into the sample beside others; what is only a name or a table is taken less often. */
  readonly weight: number;
  readonly original: string;
  readonly replacement: string;
  readonly start: number;
  readonly end: number;
  /** The statement or expression before which a probe can stand. */
  readonly probe: { readonly start: number; readonly end: number; readonly statement: boolean };
}

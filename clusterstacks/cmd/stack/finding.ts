/** Something that a person has to mend before a stack is released. */
export interface Finding {
  /** The file, folder or release that it is about. */
  readonly where: string;
  /** What is wrong, and what helps. */
  readonly problem: string;
}

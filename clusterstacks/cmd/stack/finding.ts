/** Something that a person has to fix before a stack is released. */
export interface Finding {
  /** The file, folder or release that it is about. */
  readonly where: string;
  /** What is wrong, and how to fix it. */
  readonly problem: string;
}

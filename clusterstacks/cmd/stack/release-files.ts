/** Files by their path below a folder, with `/` between its parts. */
export type Files = ReadonlyMap<string, Buffer>;

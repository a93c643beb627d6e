/** The value of a flag in a command line; empty when it is not there. */
export function flagOf(args: readonly string[], flag: string): string {
  const start = `--${flag}=`;
  return args.find((argument) => argument.startsWith(start))?.slice(start.length) ?? '';
}

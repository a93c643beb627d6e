/** Command-line flags by name. A list repeats the flag, in order; `undefined` is a bare `--flag`. */
export type Arguments = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Whose value counts when both Steward and the user set a flag. */
export interface MergeOptions {
  /** Flags as users write them: `--flag=value` or `--flag`. */
  readonly extra?: readonly string[] | undefined;
  readonly winner: 'user' | 'operator';
}

/** The name in `--name=value`, without the leading dashes. Kubernetes' programs treat underscores in it as dashes. */
export function flagName(argument: string): string {
  const equals = argument.indexOf('=');
  return (equals < 0 ? argument : argument.slice(0, equals)).replace(/^--?/, '').replaceAll('_', '-');
}

/** A flag as it is passed on. A bare flag gets a value: otherwise a flag that is not a switch would consume the next argument. */
function whole(argument: string): string {
  return argument.includes('=') ? argument : `${argument}=true`;
}

function rendered(name: string, value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [`--${name}`];
  return (typeof value === 'string' ? [value] : value).map((one) => `--${name}=${one}`);
}

/**
 * One list, sorted by flag. A flag that a user sets several times keeps all its values in the given order, including repeats:
 * some flags of Kubernetes are lists, and for the others the program itself uses the last one.
 */
export function mergeArguments(ours: Arguments, options: MergeOptions): string[] {
  const byName = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(ours)) byName.set(name, rendered(name, value));
  const theirs = new Map<string, string[]>();
  for (const argument of options.extra ?? []) {
    const name = flagName(argument);
    const values = theirs.get(name) ?? [];
    values.push(whole(argument));
    theirs.set(name, values);
  }
  for (const [name, values] of theirs) {
    if (options.winner === 'user' || !byName.has(name)) byName.set(name, values);
  }
  return [...byName.entries()].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).flatMap(([, values]) => values);
}

import { parseArgs } from 'node:util';

/** One flag of a command. The type of its default is the type of the flag. */
export interface Flag<T extends string | number | boolean = string | number | boolean> {
  readonly value: T;
  readonly help: string;
}

/** The flags of a command, by name. */
export type Flags = Readonly<Record<string, Flag>>;

/** The values of a command's flags. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F]: F[K]['value'] extends boolean ? boolean : F[K]['value'] extends number ? number : string;
};

/** The command line is invalid. The message says what is accepted. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Parses flags in the format of Go programs: `--name=value`, `--name value`, and `--name` or `--name=false` for
 * switches.
 * @throws UsageError for an unknown flag, a missing value, or a value of the wrong kind.
 */
export function readFlags<F extends Flags>(flags: F, args: readonly string[]): FlagValues<F> {
  const isSwitch = (name: string) => typeof flags[name]?.value === 'boolean';
  const { values, positionals } = parseArgs({
    args: [...args],
    strict: false,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.keys(flags).map((name) => [name, { type: isSwitch(name) ? ('boolean' as const) : ('string' as const) }]),
    ),
  });
  if (positionals.length > 0) {
    throw new UsageError(`"${positionals.join(' ')}" is not a flag; write every argument as --name=value`);
  }
  const unknown = Object.keys(values).filter((name) => !(name in flags));
  if (unknown.length > 0) {
    throw new UsageError(`unknown flag --${unknown.join(', --')}; --help lists all flags`);
  }
  const read = Object.entries(flags).map(([name, flag]) => [name, valueOf(name, flag, values[name])]);
  return Object.fromEntries(read) as FlagValues<F>;
}

function valueOf(name: string, flag: Flag, given: unknown): string | number | boolean {
  if (given === undefined) return flag.value;
  if (typeof flag.value === 'boolean') {
    if (given === true || given === 'true' || given === '1') return true;
    if (given === false || given === 'false' || given === '0') return false;
    throw new UsageError(`--${name} is a switch: use true or false, got ${JSON.stringify(given)}`);
  }
  if (typeof given !== 'string') throw new UsageError(`expecting a value for --${name} arg`);
  if (typeof flag.value === 'string') return given;
  const number = Number(given);
  if (given.trim() === '' || !Number.isSafeInteger(number)) {
    throw new UsageError(`--${name} takes a whole number, got "${given}"`);
  }
  return number;
}

/** The list of flags that `--help` prints. */
export function describeFlags(flags: Flags): string {
  return Object.entries(flags)
    .map(([name, { value, help }]) => `  --${name}=${JSON.stringify(value)}\n        ${help}`)
    .join('\n');
}

import { parseArgs } from 'node:util';

/** One flag of a command: its default says its kind. */
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

/** The command line cannot be understood; the message says what would be. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Reads flags as Go programs take them: `--name=value`, `--name value`, and `--name` or `--name=false` for switches.
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
    throw new UsageError(`"${positionals.join(' ')}" is no flag; every argument is written --name=value`);
  }
  const unknown = Object.keys(values).filter((name) => !(name in flags));
  if (unknown.length > 0) {
    throw new UsageError(`unknown flag --${unknown.join(', --')}; --help lists what there is`);
  }
  const read = Object.entries(flags).map(([name, flag]) => [name, valueOf(name, flag, values[name])]);
  return Object.fromEntries(read) as FlagValues<F>;
}

function valueOf(name: string, flag: Flag, given: unknown): string | number | boolean {
  if (given === undefined) return flag.value;
  if (typeof flag.value === 'boolean') {
    if (given === true || given === 'true' || given === '1') return true;
    if (given === false || given === 'false' || given === '0') return false;
    throw new UsageError(`--${name} is a switch: true or false is needed, got ${JSON.stringify(given)}`);
  }
  if (typeof given !== 'string') throw new UsageError(`expecting a value for --${name} arg`);
  if (typeof flag.value === 'string') return given;
  const number = Number(given);
  if (given.trim() === '' || !Number.isSafeInteger(number)) {
    throw new UsageError(`--${name} takes a whole number, got "${given}"`);
  }
  return number;
}

/** The list that `--help` prints. */
export function describeFlags(flags: Flags): string {
  return Object.entries(flags)
    .map(([name, { value, help }]) => `  --${name}=${JSON.stringify(value)}\n        ${help}`)
    .join('\n');
}

import { givenSeed, newSeed } from '../../e2e/framework/run-seed.ts';

/** What a run is asked to do. */
export interface Options {
  /** A sample of the faults instead of all. */
  readonly short: boolean;
  /** Writes results and page. */
  readonly record: boolean;
  /** Names of plays; empty for all. */
  readonly plays: readonly string[];
  /** Names of faults; empty for all. */
  readonly faults: readonly string[];
  /** The only call at which the fault happens. */
  readonly call?: number;
  readonly seed: number;
}

const help =
  'usage: npm run test:chaos -- [--short] [--record] [--play <name>]... [--fault <name>]... [--call <number>] [--seed <number>]';

/** Reads the command line. Throws for anything that is not known. */
export function parseOptions(
  args: readonly string[],
  known: { readonly plays: readonly string[]; readonly faults: readonly string[] },
): Options {
  const found = { short: false, record: false, plays: [] as string[], faults: [] as string[] };
  let call: number | undefined;
  let seed: number | undefined;
  for (const [at, arg] of args.entries()) {
    if (args[at - 1]?.startsWith('--') === true && takesValue.has(args[at - 1] ?? '')) continue;
    const value = args[at + 1];
    if (arg === '--short' || arg === '--record') found[arg === '--short' ? 'short' : 'record'] = true;
    else if (arg === '--play') found.plays.push(oneOf('--play', value, known.plays));
    else if (arg === '--fault') found.faults.push(oneOf('--fault', value, known.faults));
    else if (arg === '--call') call = numberOf('--call', value);
    else if (arg === '--seed') seed = numberOf('--seed', value);
    else throw new Error(`${arg} is not known: ${help}`);
  }
  if (found.short && found.record) throw new Error('--record keeps the results of a whole run: leave out --short');
  return { ...found, ...(call !== undefined && { call }), seed: seed ?? givenSeed() ?? newSeed() };
}

const takesValue: ReadonlySet<string> = new Set(['--play', '--fault', '--call', '--seed']);

function oneOf(flag: string, value: string | undefined, known: readonly string[]): string {
  if (value !== undefined && known.includes(value)) return value;
  throw new Error(`${flag} takes one of ${known.join(', ')}, got "${value ?? ''}"`);
}

function numberOf(flag: string, value: string | undefined): number {
  if (value !== undefined && /^\d{1,10}$/.test(value)) return Number(value);
  throw new Error(`${flag} takes a whole number, got "${value ?? ''}"`);
}

import { parseArgs } from 'node:util';

/** What can be measured. */
export const figures = ['ready', 'footprint'] as const;
export type Figure = (typeof figures)[number];

/** What the benchmarks are started with. */
export interface BenchOptions {
  readonly figures: readonly Figure[];
  /** How often ours and each floor are measured, alternating. */
  readonly pairs: number;
  /** Replica counts of the control planes, measured one after the other. */
  readonly replicas: readonly number[];
  /** Numbers of tenants at which the manager's footprint is taken, ascending. */
  readonly tenants: readonly number[];
  /** Seconds of rest before and during each look at the footprint. */
  readonly idleSeconds: number;
  /** File that gets everything that was measured. */
  readonly json: string | undefined;
  /** Whether the results become those that README's figures are written from. */
  readonly record: boolean;
  /** Whether the management cluster stays. */
  readonly keep: boolean;
  /** Name of a management cluster that runs already, for example one that was kept. */
  readonly cluster: string | undefined;
  /** Whether only {@link usage} is wanted. */
  readonly help: boolean;
}

/** What `--help` says. */
export const usage = `usage: npm run bench -- [ready] [footprint] [options]
  ready              time from creation to the first /readyz and to status Ready, against two floors
  footprint          memory, CPU and API requests of the manager per tenant
                     (without a name: all of them)
  --pairs N          measurements of ours and of each floor, alternating (default 5)
  --replicas 1,2     replica counts to measure (default 1,2)
  --tenants 0,4,8    numbers of tenants for the footprint (default 0,4,8)
  --idle SECONDS     rest before, and length of, each look at the footprint (default 60)
  --json FILE        write all measurements there
  --record           write them to bench/results too; \`npm run gen\` writes README's figures from there
  --keep             leave the management cluster running
  --cluster NAME     use a management cluster that runs already, with the manager in it`;

/**
 * Reads the command line.
 * @throws Error that names the option, what it got and what it takes.
 */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      pairs: { type: 'string', default: '5' },
      replicas: { type: 'string', default: '1,2' },
      tenants: { type: 'string', default: '0,4,8' },
      idle: { type: 'string', default: '60' },
      json: { type: 'string' },
      record: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      cluster: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = positionals.find((name) => !isFigure(name));
  if (unknown !== undefined)
    throw new Error(`There is no figure ${unknown}; there are ${figures.join(', ')}.\n${usage}`);
  const tenants = wholeNumbers('--tenants', values.tenants, 0);
  if (new Set(tenants).size < 2) throw new Error(`--tenants ${values.tenants}: two different numbers are needed.`);
  return {
    figures: figures.filter((name) => positionals.length === 0 || positionals.includes(name)),
    pairs: wholeNumber('--pairs', values.pairs, 1),
    replicas: wholeNumbers('--replicas', values.replicas, 1),
    tenants: [...new Set(tenants)].toSorted((a, b) => a - b),
    idleSeconds: wholeNumber('--idle', values.idle, 1),
    json: values.json,
    record: values.record,
    keep: values.keep,
    cluster: values.cluster,
    help: values.help,
  };
}

function isFigure(name: string): name is Figure {
  return figures.some((figure) => figure === name);
}

function wholeNumbers(option: string, text: string, least: number): readonly number[] {
  return text.split(',').map((part) => wholeNumber(option, part.trim(), least));
}

function wholeNumber(option: string, text: string, least: number): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least)) throw new Error(`${option} ${text}: a whole number of at least ${least} is needed.`);
  return number;
}

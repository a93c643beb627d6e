import { parseArgs } from 'node:util';

import { hostilities } from './hostile/hostile-endpoints.ts';
import type { Hostility } from './hostile/hostile-endpoints.ts';

/** What is measured on a management cluster, and what needs none. */
const clusterFigures = ['ready', 'footprint'] as const;
const figures = [...clusterFigures, 'upgrade', 'hostile', 'memory'] as const;
type Figure = (typeof figures)[number];

/** What the benchmarks are started with. */
export interface BenchOptions {
  readonly figures: readonly Figure[];
  /** How often ours and each floor are measured, alternating. */
  readonly pairs: number;
  /** Replica counts of the control planes, measured one after the other. */
  readonly replicas: readonly number[];
  /** Numbers of tenants at which the manager's footprint is taken, ascending. */
  readonly tenants: readonly number[];
  /** Idle seconds before and during each measurement of the footprint. */
  readonly idleSeconds: number;
  /** What endpoints of hostile tenants do, one after the other. */
  readonly does: readonly Hostility[];
  /** Numbers of tenants with hostile endpoints, and of those that are made beside them. */
  readonly hostile: number;
  readonly innocent: number;
  /** Numbers of created and deleted tenants at which the heap is measured, ascending. */
  readonly churn: readonly number[];
  /** Whether a broken bound makes the run fail. */
  readonly check: boolean;
  /** What the results shall say besides, for example that other work ran on the machine. */
  readonly note: string | undefined;
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
export const usage = `usage: npm run bench -- [ready] [footprint] [hostile] [memory] [options]
  ready              time from creation to the first /readyz and to status Ready, against two floors
  footprint          memory, CPU and API requests of the manager per tenant
                     (without a name: both of these)
  upgrade            ten upgrades under load, over three types of Service, against the same pods by hand
  hostile            CPU, management requests and delay of others while endpoints of tenants are hostile; needs no cluster
  memory             heap of the manager after tenants came and went; needs no cluster
  --pairs N          measurements of ours and of each floor, alternating (default 5)
  --replicas 1,2     replica counts to measure (default 1,2)
  --tenants 0,4,8    numbers of tenants for the footprint (default 0,4,8)
  --idle SECONDS     rest before, and length of, each look at the footprint or at hostile tenants (default 60)
  --does A,B         what hostile endpoints do (default ${hostilities.join(',')})
  --hostile N        tenants with hostile endpoints (default 100)
  --innocent N       tenants made beside them, and as many alone (default 30)
  --churn N,M        tenants made and deleted at each look at the heap (default 100,1000,10000)
  --check            fail when upgrade, hostile or memory breaks a bound
  --note TEXT        what the recorded results shall say besides
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
      does: { type: 'string', default: hostilities.join(',') },
      hostile: { type: 'string', default: '100' },
      innocent: { type: 'string', default: '30' },
      churn: { type: 'string', default: '100,1000,10000' },
      check: { type: 'boolean', default: false },
      note: { type: 'string' },
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
    figures: positionals.length === 0 ? clusterFigures : figures.filter((name) => positionals.includes(name)),
    does: hostilitiesOf(values.does),
    hostile: wholeNumber('--hostile', values.hostile, 1),
    innocent: wholeNumber('--innocent', values.innocent, 1),
    churn: wholeNumbers('--churn', values.churn, 1).toSorted((a, b) => a - b),
    check: values.check,
    note: values.note,
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

function hostilitiesOf(text: string): readonly Hostility[] {
  const asked = text.split(',');
  const unknown = asked.find((name) => !hostilities.some((one) => one === name));
  if (unknown !== undefined) throw new Error(`--does ${unknown}: one or more of ${hostilities.join(', ')} are needed.`);
  return hostilities.filter((one) => asked.includes(one));
}

function isFigure(name: string): name is Figure {
  return figures.some((figure) => figure === name);
}

function wholeNumbers(option: string, text: string, least: number): readonly number[] {
  return text.split(',').map((part) => wholeNumber(option, part.trim(), least));
}

function wholeNumber(option: string, text: string, least: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least)) throw new Error(`${option} ${text}: a whole number of at least ${least} is needed.`);
  return number;
}

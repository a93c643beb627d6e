import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

import type { ChaosOptions } from './chaos/measure-chaos.ts';
import type { DensityOptions } from './density/measure-density.ts';
import { floodStores } from './flood/flood-rows.ts';
import type { FloodStore } from './flood/flood-rows.ts';
import { hostilities } from './hostile/hostile-endpoints.ts';
import type { Hostility } from './hostile/hostile-endpoints.ts';
import type { ScaleOptions } from './scale/measure-scale.ts';
import { scaleStages } from './scale/scale-rows.ts';
import type { ScaleStage } from './scale/scale-rows.ts';
import type { WakeOptions } from './wake/measure-wake.ts';
import { endpointTypes, wakeStages } from './wake/wake-rows.ts';
import type { EndpointType, WakeStage } from './wake/wake-rows.ts';

/** What the benchmarks are started with. */
export interface BenchOptions {
  /** Names of the benchmarks that are run. */
  readonly figures: readonly string[];
  /** How often ours and each floor are measured for `ready`, alternating. */
  readonly pairs: number;
  /** Replica counts of the control planes, measured one after the other. */
  readonly replicas: readonly number[];
  /** Numbers of tenants at which the manager's footprint is taken, ascending. */
  readonly tenants: readonly number[];
  /** Idle seconds before and during each measurement of a footprint. */
  readonly idleSeconds: number;
  /** How often `burst`, `onemore` and `worker` are measured. */
  readonly rounds: number;
  /** Numbers of tenants that are created at once, one after the other. */
  readonly burst: readonly number[];
  /** Tenants that run while one more is created. */
  readonly crowd: number;
  /** Prepared control planes that are claimed, one after the other. */
  readonly claims: number;
  /** Control planes of Steward, and of kubeadm, whose needs are compared. */
  readonly controlPlanes: number;
  /** Tenants that are upgraded twice each. */
  readonly upgrades: number;
  /** What endpoints of hostile tenants do, one after the other. */
  readonly does: readonly Hostility[];
  /** Numbers of tenants with hostile endpoints, and of those that are made beside them. */
  readonly hostile: number;
  readonly innocent: number;
  /** Numbers of created and deleted tenants at which the heap is measured, ascending. */
  readonly churn: readonly number[];
  /** Datastores in which a hostile tenant is measured, one after the other. */
  readonly stores: readonly FloodStore[];
  /** Objects of a tenant that is destroyed and restored, and how many seconds it is written to before. */
  readonly objects: number;
  readonly writingSeconds: number;
  /** What `scale` measures, with defaults of its own for `--tenants` and `--idle`. */
  readonly scale: ScaleOptions;
  /** What `chaos` does. */
  readonly chaos: ChaosOptions;
  /** What `wake` measures, with a default of its own for `--idle`. */
  readonly wake: WakeOptions;
  /** What `density` measures, with a default of its own for `--tenants`. */
  readonly density: Omit<DensityOptions, 'stores'>;
  /** Whether a broken bound makes the run fail. */
  readonly check: boolean;
  /** What the results shall say besides, for example that other work ran on the machine. */
  readonly note: string | undefined;
  /** File that gets everything that was measured. */
  readonly json: string | undefined;
  /** Whether the results become those that pages are written from. */
  readonly record: boolean;
  /** Whether the management cluster stays. */
  readonly keep: boolean;
  /** Name of a management cluster that runs already, for example one that was kept. */
  readonly cluster: string | undefined;
  /** Whether only {@link usage} is wanted. */
  readonly help: boolean;
}

/** A benchmark that can be named. */
export interface KnownFigure {
  readonly name: string;
  readonly help: string;
  readonly isQuick?: boolean;
}

/** Run when no name is given. */
const usual = ['ready', 'footprint'] as const;

const defaults = {
  ...{ pairs: '5', replicas: '1,2', tenants: '0,4,8', idle: '60', rounds: '3', burst: '8', crowd: '30', claims: '20' },
  ...{ 'control-planes': '3', upgrades: '5', hostile: '100', innocent: '30', churn: '100,1000,10000' },
  ...{ objects: '10000', writing: '60', minutes: '30', managers: '3', 'stand-ins': '300', real: '10' },
  does: hostilities.join(','),
  stores: floodStores.join(','),
};

/** Defaults of `--quick`. */
const quickly = {
  ...defaults,
  pairs: '2',
  replicas: '1',
  rounds: '1',
  upgrades: '1',
  claims: '5',
  objects: '500',
  writing: '20',
  minutes: '3',
  'stand-ins': '30',
  real: '1',
};

/** The same for `scale`. */
const scaleDefaults = { tenants: '0,100,500,1000,3000', idle: '300', managers: '1' };
const scaleQuickly = { ...scaleDefaults, tenants: '0,100,300', idle: '60' };

/** The same for `wake`. */
const wakeDefaults = { idle: '30', sleeping: '50', hellos: '10000', rounds: '3' };
const wakeQuickly = { idle: '10', sleeping: '5', hellos: '1000', rounds: '1' };

/** The same for `density`. */
const densityDefaults = { tenants: '10,30,60,100,150,200,300,500,700,1000', seconds: 20 };
const densityQuickly = { tenants: '10,30', seconds: 10 };

/** What `--help` says. */
export function usage(known: readonly KnownFigure[]): string {
  const line = ({ name, help }: Pick<KnownFigure, 'name' | 'help'>): string => `  ${name.padEnd(18)} ${help}`;
  const quick = known.filter(({ isQuick }) => isQuick).map(({ name }) => name);
  return [
    'usage: npm run bench -- [names] [options]',
    ...known.map(line),
    line({ name: 'all', help: 'every one of them' }),
    `                     (without a name: ${usual.join(' and ')})`,
    optionLines(quick),
  ].join('\n');
}

const optionLines = (quick: readonly string[]): string => `\
  --quick            less of it: ${quickly.pairs} pairs of one replica, ${quickly.rounds} round, ${quickly.upgrades} upgraded tenant;
                     without a name or with all: ${quick.join(', ')}, in a quarter of an hour
  --pairs N          ready: measurements of ours and of each floor, alternating (default ${defaults.pairs})
  --replicas 1,2     ready: replica counts (default ${defaults.replicas})
  --tenants 0,4,8    footprint: numbers of tenants (default ${defaults.tenants})
                     scale: the same (default ${scaleDefaults.tenants}, with --quick ${scaleQuickly.tenants})
                     density: the same (default ${densityDefaults.tenants}, with --quick ${densityQuickly.tenants})
  --idle SECONDS     footprint, instant, hardware, hostile: rest before, and length of, each measurement (default ${defaults.idle})
                     scale: the same (default ${scaleDefaults.idle}, with --quick ${scaleQuickly.idle})
                     wake: the same (default ${wakeDefaults.idle}, with --quick ${wakeQuickly.idle})
  --stages A,B       scale: what is measured (default ${scaleStages.join(',')})
                     wake: the same (default ${wakeStages.join(',')})
  --rounds N         burst, onemore, worker, wake: measurements (default ${defaults.rounds})
  --burst 8,40       burst: tenants that are created at once (default ${defaults.burst})
  --crowd N          onemore: tenants that run meanwhile (default ${defaults.crowd})
  --claims N         instant: claims (default ${defaults.claims}, with --quick ${quickly.claims})
  --control-planes N hardware: control planes of each kind (default ${defaults['control-planes']})
  --upgrades N       upgrade: tenants, with two upgrades each (default ${defaults.upgrades})
  --does A,B         hostile: what endpoints do (default ${defaults.does})
  --hostile N        hostile: tenants with such endpoints (default ${defaults.hostile})
  --innocent N       hostile: tenants made beside them, and as many alone (default ${defaults.innocent})
  --churn N,M        memory: tenants made and deleted before each measurement (default ${defaults.churn})
  --stores A,B       flood, restore, density: datastores (default ${defaults.stores})
  --objects N        restore: objects of the tenant (default ${defaults.objects}, with --quick ${quickly.objects})
  --writing SECONDS  restore: how long it is written to (default ${defaults.writing}, with --quick ${quickly.writing})
  --minutes N        chaos: how long everything fails (default ${defaults.minutes}, with --quick ${quickly.minutes})
  --managers N       chaos, sharing: managers (default ${defaults.managers})
                     scale: managers that share the tenants (default ${scaleDefaults.managers})
  --shards           chaos: the managers share the tenants
  --real N           chaos: tenants with real API servers (default ${defaults.real}, with --quick ${quickly.real})
  --stand-ins N      chaos: other tenants (default ${defaults['stand-ins']}, with --quick ${quickly['stand-ins']})
  --seed N           chaos: what chooses the faults (default: another one each time)
  --endpoints A,B    wake: what is called first (default ${endpointTypes.join(',')}; the last two need Traefik)
  --sleeping N       wake: tenants that sleep (default ${wakeDefaults.sleeping}, with --quick ${wakeQuickly.sleeping})
  --awake N          wake: how many of these are awake at once (default: as many as fit, and at most 6 for each processor)
  --hellos N         wake: hostile hellos (default ${wakeDefaults.hellos}, with --quick ${wakeQuickly.hellos})
  --check            fail when a bound is broken
  --note TEXT        what the recorded results shall say besides
  --json FILE        write all measurements there
  --record           write them to bench/results too; \`npm run gen\` writes the figures of pages from there
  --keep             leave the management cluster running
  --cluster NAME     use a management cluster that runs already, with the manager in it`;

/**
 * Reads the command line.
 * @throws Error that names the option, what it got and what it takes.
 */
export function parseOptions(args: readonly string[], known: readonly KnownFigure[]): BenchOptions {
  const text = { type: 'string' } as const;
  const isSet = { type: 'boolean', default: false } as const;
  const { values: given, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ pairs: text, replicas: text, tenants: text, idle: text, rounds: text, burst: text, crowd: text },
      claims: text,
      ...{ 'control-planes': text, upgrades: text, does: text, hostile: text, innocent: text, churn: text },
      ...{ stages: text, stores: text, objects: text, writing: text, note: text, json: text, cluster: text },
      ...{ endpoints: text, sleeping: text, awake: text, hellos: text },
      ...{ minutes: text, managers: text, 'stand-ins': text, real: text, seed: text },
      ...{ shards: isSet, check: isSet, record: isSet, keep: isSet, quick: isSet, help: { ...isSet, short: 'h' } },
    },
  });
  const values = { ...(given.quick ? quickly : defaults), ...given };
  const scale = { ...(given.quick ? scaleQuickly : scaleDefaults), ...given };
  const wake = { ...(given.quick ? wakeQuickly : wakeDefaults), ...given };
  const figures = chosen(positionals, given.quick, known);
  const stages = stagesOf(given.stages, figures);
  const density = { ...(given.quick ? densityQuickly : densityDefaults), ...given };
  return {
    figures,
    pairs: wholeNumber('--pairs', values.pairs, 1),
    replicas: wholeNumbers('--replicas', values.replicas, 1),
    tenants: differentNumbers('--tenants', values.tenants),
    idleSeconds: wholeNumber('--idle', values.idle, 1),
    rounds: wholeNumber('--rounds', values.rounds, 1),
    burst: wholeNumbers('--burst', values.burst, 1),
    crowd: wholeNumber('--crowd', values.crowd, 1),
    claims: wholeNumber('--claims', values.claims, 1),
    controlPlanes: wholeNumber('--control-planes', values['control-planes'], 1),
    upgrades: wholeNumber('--upgrades', values.upgrades, 1),
    does: hostilitiesOf(values.does),
    hostile: wholeNumber('--hostile', values.hostile, 1),
    innocent: wholeNumber('--innocent', values.innocent, 1),
    churn: wholeNumbers('--churn', values.churn, 1).toSorted((a, b) => a - b),
    stores: storesOf(values.stores),
    objects: wholeNumber('--objects', values.objects, 1),
    writingSeconds: wholeNumber('--writing', values.writing, 10),
    scale: {
      stages: stages.scale,
      tenants: differentNumbers('--tenants', scale.tenants),
      idleSeconds: wholeNumber('--idle', scale.idle, 1),
      managers: wholeNumber('--managers', scale.managers, 1),
    },
    chaos: {
      minutes: wholeNumber('--minutes', values.minutes, 1),
      ...{ managers: wholeNumber('--managers', values.managers, 2), shards: values.shards },
      standIn: wholeNumber('--stand-ins', values['stand-ins'], 1),
      real: wholeNumber('--real', values.real, 0),
      seed: given.seed === undefined ? randomInt(2 ** 31) : wholeNumber('--seed', given.seed, 0),
    },
    wake: {
      stages: stages.wake,
      endpoints: endpointsOf(given.endpoints),
      rounds: wholeNumber('--rounds', wake.rounds, 1),
      sleeping: wholeNumber('--sleeping', wake.sleeping, 1),
      ...(given.awake !== undefined && { awake: wholeNumber('--awake', given.awake, 1) }),
      hellos: wholeNumber('--hellos', wake.hellos, 1),
      idleSeconds: wholeNumber('--idle', wake.idle, 1),
    },
    density: {
      tenants: differentNumbers('--tenants', density.tenants).filter((count) => count > 0),
      seconds: density.seconds,
    },
    check: values.check,
    note: values.note,
    json: values.json,
    record: values.record,
    keep: values.keep,
    cluster: values.cluster,
    help: values.help,
  };
}

/** Names in the order in which they are known. */
function chosen(asked: readonly string[], isQuick: boolean, known: readonly KnownFigure[]): readonly string[] {
  const names = known.map(({ name }) => name);
  const unknown = asked.find((name) => name !== 'all' && !names.includes(name));
  if (unknown !== undefined)
    throw new Error(`There is no benchmark ${unknown}; there are ${names.join(', ')} and all.\n${usage(known)}`);
  if (asked.includes('all') || (isQuick && asked.length === 0))
    return known.filter((one) => !isQuick || one.isQuick === true).map(({ name }) => name);
  const wanted: readonly string[] = asked.length === 0 ? usual : asked;
  return names.filter((name) => wanted.includes(name));
}

function hostilitiesOf(text: string): readonly Hostility[] {
  const asked = text.split(',');
  const unknown = asked.find((name) => !hostilities.some((one) => one === name));
  if (unknown !== undefined) throw new Error(`--does ${unknown}: one or more of ${hostilities.join(', ')} are needed.`);
  return hostilities.filter((one) => asked.includes(one));
}

function storesOf(text: string): readonly FloodStore[] {
  const asked = text.split(',');
  const unknown = asked.find((name) => !floodStores.some((one) => one === name));
  if (unknown !== undefined)
    throw new Error(`--stores ${unknown}: one or more of ${floodStores.join(', ')} are needed.`);
  return floodStores.filter((one) => asked.includes(one));
}

function endpointsOf(text: string = endpointTypes.join(',')): readonly EndpointType[] {
  const asked = text.split(',');
  const unknown = asked.find((name) => !endpointTypes.some((one) => one === name));
  if (unknown !== undefined)
    throw new Error(`--endpoints ${unknown}: one or more of ${endpointTypes.join(', ')} are needed.`);
  return endpointTypes.filter((one) => asked.includes(one));
}

/** What `scale` and `wake` measure: all of it, unless some of it is named. A figure for which none of the named stages exist is refused, rather than run in full. */
function stagesOf(
  text: string | undefined,
  figures: readonly string[],
): { readonly scale: readonly ScaleStage[]; readonly wake: readonly WakeStage[] } {
  const asked = text?.split(',') ?? [];
  const refuse = (name: string): never => {
    const needed = `one or more of ${scaleStages.join(', ')} are needed for scale, of ${wakeStages.join(', ')} for wake.`;
    throw new Error(`--stages ${name}: ${needed}`);
  };
  const known: readonly string[] = [...scaleStages, ...wakeStages];
  const unknown = asked.find((name) => !known.includes(name));
  if (unknown !== undefined) refuse(unknown);
  const named = <Stage extends string>(figure: string, all: readonly Stage[]): readonly Stage[] => {
    const some = all.filter((one) => asked.includes(one));
    if (some.length > 0) return some;
    return text === undefined || !figures.includes(figure) ? all : refuse(text);
  };
  return { scale: named('scale', scaleStages), wake: named('wake', wakeStages) };
}

/** Ascending. */
function differentNumbers(option: string, text: string): readonly number[] {
  const numbers = [...new Set(wholeNumbers(option, text, 0))];
  if (numbers.length < 2) throw new Error(`${option} ${text}: two different numbers are needed.`);
  return numbers.toSorted((a, b) => a - b);
}

function wholeNumbers(option: string, text: string, least: number): readonly number[] {
  return text.split(',').map((part) => wholeNumber(option, part.trim(), least));
}

function wholeNumber(option: string, text: string, least: number): number {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(number >= least)) throw new Error(`${option} ${text}: a whole number of at least ${least} is needed.`);
  return number;
}

import { percentile } from '../report/percentile.ts';
import { endpointTypes, rowsOf } from './wake-rows.ts';
import type { ActivatorMemory, FirstRow, HostileRow, PodMemory, SleepingRow, WakeRow } from './wake-rows.ts';

/** A figure beside what it has to be. */
export interface Reach {
  readonly figure: string;
  readonly value: number;
  /** Decimal places of the value. */
  readonly digits: number;
  /** At most this. */
  readonly most: number;
  /** At least this as well. */
  readonly least?: number;
  /** Times depend on what else the machine does: they are shown, and `--check` does not look at them. */
  readonly isTime?: true;
}

/** First answers take at most so many times as long as a start by hand, in the median. */
const mostTimes = 1.3;
/** One pod of the activator holds so much at rest. */
const mostActivatorMiB = 60;

export function isMet({ value, most, least = -Infinity }: Reach): boolean {
  return value >= least && value <= most;
}

/** Every figure that these rows have, with its reach. */
export function reachesOf(rows: readonly WakeRow[]): readonly Reach[] {
  const [first, callers] = [rowsOf(rows, 'first'), rowsOf(rows, 'callers')];
  return [
    ...endpointTypes.flatMap((endpoint) =>
      firstReach(
        endpoint,
        first.filter((row) => row.endpoint === endpoint),
      ),
    ),
    ...(first.length === 0
      ? []
      : [
          none('first calls that were not answered', first.filter(isUnanswered).length),
          once(
            'wakes for one first call',
            first.filter((row) => !isUnanswered(row)).map(({ wakes }) => wakes),
          ),
        ].flat()),
    ...callers.map(({ callers: count, round, failures }) =>
      none(`of ${count} callers at once that were not answered, round ${round}`, failures.length),
    ),
    ...once(
      'wakes for all callers at once',
      callers.map(({ wakes }) => wakes),
    ),
    ...rowsOf(rows, 'sleeping').flatMap(sleepingReaches),
    ...rowsOf(rows, 'hostile').flatMap(hostileReaches),
  ];
}

const isUnanswered = ({ answeredMs }: FirstRow): boolean => answeredMs === undefined;

/** The most memory that one pod of the activator held. */
export function mostOf(memory: ActivatorMemory, field: keyof PodMemory = 'pssMiB'): number {
  const found = Object.values(memory).map((pod) => pod[field]);
  if (found.length === 0) throw new Error('The memory of no activator was read.');
  return Math.max(...found);
}

function firstReach(endpoint: string, rows: readonly FirstRow[]): readonly Reach[] {
  const answered = rows.flatMap(({ answeredMs }) => answeredMs ?? []);
  if (answered.length === 0) return [];
  const byHand = rows.map(({ byHandMs }) => byHandMs);
  return [
    {
      figure: `first answer through ${endpoint}, median, times a start by hand`,
      value: percentile(answered, 50) / percentile(byHand, 50),
      ...{ digits: 2, most: mostTimes, isTime: true },
    },
  ];
}

function sleepingReaches({ state, tenants, pods, awoken, activatorMiB }: SleepingRow): readonly Reach[] {
  if (state === 'awake') return [];
  return [
    none(`pods of ${tenants} sleeping tenants`, pods),
    none(`of ${tenants} sleeping tenants that woke up at rest`, awoken),
    memory(`memory of an activator beside ${tenants} sleeping tenants, MiB`, activatorMiB),
  ];
}

function hostileReaches(row: HostileRow): readonly Reach[] {
  const { hellos, awoken, requests, answered, refused, unclosed, restarts, neighbor, activatorMiB } = row;
  const said = Object.values(hellos).reduce((sum, count) => sum + count, 0);
  return [
    none(`of ${said} hostile hellos, tenants that woke up`, awoken),
    none(`of ${said} hostile hellos, requests to wake one up`, requests),
    none(`of ${said} hostile hellos, those that were answered`, answered),
    none(`of ${said} hostile hellos, connections that were refused`, refused),
    none(`of ${said} hostile hellos, connections that were not closed in time`, unclosed),
    none('restarts of activators', restarts),
    none('failed calls of the neighbor', neighbor.alone.failed.length + neighbor.beside.failed.length),
    memory(`memory of an activator after ${said} hostile hellos and a rest, MiB`, activatorMiB.after),
  ];
}

const none = (figure: string, value: number): Reach => ({ figure, value, digits: 0, most: 0 });

function once(figure: string, wakes: readonly number[]): readonly Reach[] {
  if (wakes.length === 0) return [];
  const worst = wakes.find((count) => count !== 1) ?? 1;
  return [{ figure, value: worst, digits: 0, least: 1, most: 1 }];
}

function memory(figure: string, found: ActivatorMemory): Reach {
  return { figure, value: mostOf(found), digits: 0, most: mostActivatorMiB };
}

import { faultKinds } from './chaos-rows.ts';
import type { FaultKind } from './chaos-rows.ts';

/** One fault of a run. */
export interface PlannedFault {
  readonly kind: FaultKind;
  /** Seconds since the begin of the run. */
  readonly at: number;
  /** How long it lasts, in seconds. */
  readonly lasts: number;
  /** The manager that it concerns, if it concerns one alone. */
  readonly manager?: number;
}

/** What a run is planned with. */
export interface FaultPlanOptions {
  readonly seconds: number;
  readonly managers: number;
  /** Between 0 and 1, as `Math.random`. */
  readonly random: () => number;
}

/** How long faults last: longer and shorter than the 15 seconds of a lease. A killed manager is started again after so long. */
const lasting: Readonly<Record<FaultKind, readonly [least: number, most: number]>> = {
  killed: [1, 30],
  hung: [5, 45],
  partitioned: [5, 45],
  throttled: [3, 15],
  expired: [1, 5],
  'store restarted': [1, 10],
};

/** Seconds between two faults, at least and at most. Faults may overlap. */
const pause = [4, 14] as const;

/** In the end, all faults are over so many seconds before the run is. */
const calm = 10;

/**
 * Plans which faults happen when. A manager has one fault at a time, and one of them is left alone at any time, so that there is always
 * somebody who can lead.
 */
export function planFaults({ seconds, managers, random }: FaultPlanOptions): readonly PlannedFault[] {
  const between = ([least, most]: readonly [number, number]): number => least + random() * (most - least);
  const planned: PlannedFault[] = [];
  for (let at = between(pause); at < seconds - calm; at += between(pause)) {
    const kind = faultKinds[Math.floor(random() * faultKinds.length)] ?? 'killed';
    const lasts = between(lasting[kind]);
    if (at + lasts > seconds - calm) continue;
    const now = planned.filter((fault) => overlaps(fault, at));
    if (!concernsManager(kind)) {
      if (!now.some((fault) => fault.kind === kind)) planned.push({ kind, at, lasts });
      continue;
    }
    const free = Array.from({ length: managers }, (_, number) => number).filter(
      (number) => !now.some((fault) => fault.manager === number),
    );
    const manager = free[Math.floor(random() * free.length)];
    if (manager !== undefined && free.length > 1) planned.push({ kind, at, lasts, manager });
  }
  return planned;
}

/** Whether one manager alone has it. */
export function concernsManager(kind: FaultKind): boolean {
  return kind === 'killed' || kind === 'hung' || kind === 'partitioned';
}

/** A manager that starts, or reconnects, is given a moment. */
const recovery = 5;

function overlaps({ at, lasts }: PlannedFault, time: number): boolean {
  return time >= at && time <= at + lasts + recovery;
}

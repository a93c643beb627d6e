import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

import { isMissing } from '../../e2e/cluster/machines/is-missing.ts';
import { EndedProcess } from '../footprint/ended-process.ts';
import { readProcessUsage } from '../footprint/process-usage.ts';
import type { ProcessUsage } from '../footprint/process-usage.ts';
import { parts } from './hardware-rows.ts';
import type { HardwareRow, Part } from './hardware-rows.ts';

/** A process and what it belongs to. */
export interface CountedProcess {
  readonly pid: number;
  readonly part: Part;
}

interface CountedUsage extends ProcessUsage, CountedProcess {
  /** Resident memory, shared pages in part, MiB. */
  readonly pssMiB: number;
}

/** What is the same in all rows of one measurement. */
type Measured = Omit<HardwareRow, 'way' | 'availability' | 'controlPlanes' | 'machines'>;

/** What the processes use while nothing happens for so many seconds: memory in the end, CPU time meanwhile. */
export async function usageOfParts(
  list: () => Promise<readonly CountedProcess[]>,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<readonly Measured[]> {
  const began = performance.now();
  const before = await usages(list);
  await pause(seconds * 1000, undefined, { signal });
  const after = await usages(list);
  return sumOfParts(before, after, (performance.now() - began) / 1000);
}

/** Sums usages up by part. A process that began meanwhile counts from its start. */
export function sumOfParts(
  before: readonly CountedUsage[],
  after: readonly CountedUsage[],
  seconds: number,
): readonly Measured[] {
  const earlier = new Map(before.map(({ pid, cpuSeconds }) => [pid, cpuSeconds]));
  return parts.flatMap((part) => {
    const own = after.filter((usage) => usage.part === part);
    if (own.length === 0) return [];
    const sum = (value: (usage: CountedUsage) => number): number => own.reduce((all, usage) => all + value(usage), 0);
    return [
      {
        part,
        processes: own.length,
        rssMiB: sum(({ rssMiB }) => rssMiB),
        pssMiB: sum(({ pssMiB }) => pssMiB),
        anonymousMiB: sum(({ anonymousMiB }) => anonymousMiB),
        milliCpu: (sum(({ pid, cpuSeconds }) => cpuSeconds - (earlier.get(pid) ?? 0)) / seconds) * 1000,
        seconds,
      },
    ];
  });
}

async function usages(list: () => Promise<readonly CountedProcess[]>): Promise<readonly CountedUsage[]> {
  const found = await Promise.all(
    (await list()).map(async ({ pid, part }) => {
      try {
        const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
        const pssMiB = Number(/^Pss:\s+(\d+) kB$/m.exec(rollup)?.[1] ?? 0) / 1024;
        return [{ pid, part, pssMiB, ...(await readProcessUsage(pid)) }];
      } catch (error) {
        // It has ended since it was listed, or is about to.
        if (isMissing(error) || error instanceof EndedProcess) return [];
        throw error;
      }
    }),
  );
  return found.flat();
}

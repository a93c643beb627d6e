import type { Milestone } from '../ready/milestones.ts';
import { TimelineRecorder } from '../ready/milestones.ts';
import type { Observer } from '../ready/observer.ts';

/** What is waited for. */
export interface Awaited {
  readonly namespace: string;
  /** Kind of the objects that show the milestone. */
  readonly kind: string;
  readonly names: readonly string[];
  readonly milestone: Milestone;
}

/**
 * Sends requests and waits until every object has reached a milestone.
 * @returns milliseconds after the requests were sent, ascending.
 * @throws Error that names what is missing after `timeoutMs`.
 */
export async function firstReached(
  observer: Observer,
  { namespace, kind, names, milestone }: Awaited,
  {
    create,
    timeoutMs,
    diagnose,
  }: {
    readonly create: () => Promise<unknown>;
    readonly timeoutMs: number;
    readonly diagnose: () => Promise<string>;
  },
): Promise<readonly number[]> {
  const ending = new AbortController();
  try {
    const sent = performance.now();
    const recorders = new Map(names.map((name) => [name, new TimelineRecorder(sent)]));
    const missing = (): readonly string[] => names.filter((name) => recorders.get(name)?.has(milestone) !== true);
    const complete = new Promise<boolean>((resolve) => {
      observer.listen(namespace, ending.signal, (observation) => {
        if (observation.kind !== kind) return;
        recorders.get(observation.object.metadata?.name ?? '')?.see(observation);
        if (missing().length === 0) resolve(true);
      });
      setTimeout(resolve, timeoutMs, false).unref();
    });
    await create();
    if (!(await complete)) {
      const left = `${missing().length} of ${names.length} (${missing().slice(0, 5).join(', ')})`;
      throw new Error(`${left} did not reach "${milestone}" in ${timeoutMs / 1000} s.\n${await diagnose()}`);
    }
    const times = [...recorders.values()].map((recorder) => recorder.timeline[milestone] ?? Number.NaN);
    return times.toSorted((a, b) => a - b);
  } finally {
    ending.abort();
  }
}

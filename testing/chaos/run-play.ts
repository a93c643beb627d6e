import { everyCase, sampleOf } from './cases.ts';
import type { Case } from './cases.ts';
import type { Fault } from './faults/fault.ts';
import { expectedOf, prepare, runAttempt } from './run-attempt.ts';
import type { FaultResult, PlayResult } from './report/play-result.ts';
import type { Play } from './plays/play.ts';
import type { ChaosWorld } from './world/chaos-world.ts';

/** Which cases of a play are run, and who hears of it. */
export interface PlayRun {
  readonly faults: readonly Fault[];
  readonly seed: number;
  /** Runs so many cases, chosen by the seed, instead of all. */
  readonly sample?: number | undefined;
  /** The only call at which faults happen. */
  readonly call?: number | undefined;
  /** Gets each breach, with what repeats it. */
  readonly tell: (text: string) => void;
  /** Spoils the clients of managers, for a test of this runner. */
  readonly spoil?: ChaosWorld['spoil'];
}

/** Runs a play with faults. Throws when it fails, though nothing disturbs it. */
export async function runPlay(play: Play, run: PlayRun): Promise<PlayResult> {
  const { faults, seed, sample, call, tell, spoil } = run;
  const prepared = await prepare(play, seed);
  const { calls, expected } = await expectedOf(prepared, spoil);
  const every = everyCase(calls, faults).filter((one) => call === undefined || one.call === call);
  const cases = sample === undefined ? every : sampleOf(every, sample, { seed, purpose: play.name });
  if (cases.length === 0) throw new Error(`${play.name} has ${calls.length} calls, and none at which this can happen`);
  const results: Record<string, FaultResult> = {};
  let breaches = 0;
  for (const one of cases) {
    const { name } = one.fault;
    const attempt = await runAttempt(prepared, { expected, ...one }, spoil);
    const { injected, converged, leftOver, lost } = results[name] ?? {
      injected: 0,
      converged: 0,
      leftOver: 0,
      lost: 0,
    };
    results[name] = {
      injected: injected + 1,
      converged: converged + (attempt.converged ? 1 : 0),
      leftOver: leftOver + attempt.leftOver.length,
      lost: lost + attempt.lost.length,
    };
    if (attempt.breaches.length === 0) continue;
    breaches += 1;
    const text = calls[one.call - 1]?.text ?? '';
    tell([`breach: ${again(play, one, seed)} (${text})`, ...attempt.breaches].join('\n  '));
  }
  return { name: play.name, about: play.about, seed, calls: calls.length, faults: results, breaches };
}

/** The options that repeat a case. */
function again({ name }: Play, { fault, call }: Case, seed: number): string {
  return `--play ${name} --fault ${fault.name} --call ${call} --seed ${seed}`;
}

import type { Attack, Attempt } from './attempt.ts';
import { inTime } from './in-time.ts';

/** What became of attempts. */
export interface AttemptsResult {
  /** How many were made. */
  readonly attempts: number;
  /** What the server allowed. */
  readonly breaches: readonly string[];
  /** What failed for another reason than a refusal: it says nothing about isolation. */
  readonly unclear: readonly string[];
}

/** How attempts are made. */
export interface RunOptions {
  /** True for the server's refusal, so that a broken connection does not pass for one. */
  readonly isRefusal: (error: unknown) => boolean;
  /** Which attempts are made; by default all. */
  readonly chooses?: (attempt: Attempt) => boolean;
  /** True when no further attempt is to be made; by default never. */
  readonly isOver?: (result: AttemptsResult) => boolean;
}

/** Milliseconds until an attempt that gets no answer is given up: streams have no time limit of their own. */
const answerMs = 5000;

/** Makes the attempts of an attack, lanes side by side. Never rejects: what it finds is in the result. */
export async function runAttempts({ lanes }: Pick<Attack, 'lanes'>, options: RunOptions): Promise<AttemptsResult> {
  const { isRefusal, chooses = () => true, isOver = () => false } = options;
  const breaches: string[] = [];
  const unclear: string[] = [];
  let attempts = 0;
  const runLane = async (lane: readonly Attempt[]): Promise<void> => {
    for (const attempt of lane) {
      if (isOver({ attempts, breaches, unclear })) return;
      attempts += 1;
      try {
        await inTime(attempt.run(), answerMs);
        breaches.push(attempt.name);
      } catch (error) {
        if (!isRefusal(error)) unclear.push(`${attempt.name}: ${String(error)}`);
      }
    }
  };
  await Promise.all(lanes.map((lane) => runLane(lane.filter(chooses))));
  return { attempts, breaches, unclear };
}

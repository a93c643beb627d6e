import type { Logger } from './logger.ts';

/** Lets work go on that nobody waits for. Its failure is told to the log: `what` failed. */
export function detached(work: Promise<unknown>, log: Logger, what: string): void {
  work.catch((error: unknown) => {
    log.error(`${what} failed`, { error });
  });
}

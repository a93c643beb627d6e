import type { Logger } from './observe/logger.ts';

/** Runs work in the background that nothing awaits. Its failure is logged as `<what> failed`. */
export function detached(work: Promise<unknown>, log: Logger, what: string): void {
  work.catch((error: unknown) => {
    log.error(`${what} failed`, { error });
  });
}

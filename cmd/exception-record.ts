import { readFileSync, writeFileSync } from 'node:fs';

/** How many exceptions have ended a process like this one. */
export interface ExceptionRecord {
  read(): number;
  /** Without waiting for anything: the process is about to end. */
  write(count: number): void;
}

/**
 * A count in a file, which has to outlive the process: in a pod, a volume outlives the containers that it restarts. What
 * cannot be read counts as none, and what cannot be written is lost: neither may keep the manager from starting or ending.
 */
export function exceptionRecord(file: string): ExceptionRecord {
  return {
    read: () => {
      try {
        const count = Number(readFileSync(file, 'utf8'));
        return Number.isSafeInteger(count) && count > 0 ? count : 0;
      } catch {
        return 0;
      }
    },
    write: (count) => {
      try {
        writeFileSync(file, String(count), { mode: 0o600 });
      } catch {
        // The log has the exception itself.
      }
    },
  };
}

/** What the attacks on real datastores came to. */
export interface AttemptsTotal {
  /** On servers as they should be. */
  readonly attempts: number;
  readonly breaches: number;
  /** Mistakes that were planted, each of which has to be found. */
  readonly faults: number;
  /** Those that were not found. */
  readonly missed: number;
}

const result = /^(?:isolation|verification) .+?: (\d+) attempts, (\d+) breaches/;
const planted = / \[planted: .*\]: (?:\d+ attempts, (\d+) breaches|(nothing) in \d+ attempts|.+ in \d+ attempts)$/;

/** Adds up what the contract tests of the drivers print. */
export function sumAttempts(lines: Iterable<string>): AttemptsTotal {
  const total = { attempts: 0, breaches: 0, faults: 0, missed: 0 };
  for (const line of lines) {
    if (!/^(?:isolation|verification) /.test(line)) continue;
    const [, breaches, nothing] = planted.exec(line) ?? [undefined];
    if (planted.test(line)) {
      total.faults += 1;
      if (breaches === '0' || nothing !== undefined) total.missed += 1;
      continue;
    }
    const [, attempts, found] = result.exec(line) ?? [];
    total.attempts += Number(attempts ?? 0);
    total.breaches += Number(found ?? 0);
  }
  return total;
}

/** What the attacks on one server came to. */
export interface ServerResult {
  /** As its tests name it, e.g. `PostgreSQL with TLS`. */
  readonly title: string;
  readonly driver: string;
  /** As the server reports it. */
  readonly version: string;
  /** On the server as it should be. */
  readonly attempts: number;
  readonly breaches: number;
  /** Mistakes that were planted, and those of them that attacks found. */
  readonly faults: number;
  readonly found: number;
  /** What one verification by the product needs, without waiting for a processor. */
  readonly ms: number;
  readonly bytes: number;
}

const line =
  /^(?:isolation|verification) (?<title>.+?)(?<planted> \[planted: .*\])?(?: between \d+ pairs of like names)?: (?<outcome>.+)$/;
const counted = /^(?<attempts>\d+) attempts, (?<breaches>\d+) breaches/;
const needed = /\((?<ms>\d+) ms without waiting for others\), (?<bytes>\d+) bytes, version (?<version>.+)$/;

/** The driver of a server, by the first word of its title. */
const drivers: Readonly<Record<string, string>> = { MariaDB: 'MySQL' };

/** Reads what the contract tests of the drivers print, one result for each server in the order of their titles. */
export function serverResults(lines: Iterable<string>): readonly ServerResult[] {
  const found = new Map<string, ServerResult>();
  for (const text of lines) {
    const { title, planted, outcome } = line.exec(text)?.groups ?? {};
    if (title === undefined || outcome === undefined) continue;
    const result = found.get(title) ?? fresh(title);
    const next = planted === undefined ? afterAttacks(result, outcome) : afterFault(result, outcome);
    if (next !== undefined) found.set(title, next);
  }
  return [...found.values()].sort((one, other) => (one.title < other.title ? -1 : 1));
}

function fresh(title: string): ServerResult {
  const [word = ''] = title.split(' ');
  const counts = { attempts: 0, breaches: 0, faults: 0, found: 0, ms: 0, bytes: 0 };
  return { title, driver: drivers[word] ?? word, version: '', ...counts };
}

/** Undefined for a line that does not count attempts. */
function afterAttacks(result: ServerResult, outcome: string): ServerResult | undefined {
  const { attempts, breaches } = counted.exec(outcome)?.groups ?? {};
  if (attempts === undefined) return undefined;
  const { ms, bytes, version } = needed.exec(outcome)?.groups ?? {};
  return {
    ...result,
    attempts: result.attempts + Number(attempts),
    breaches: result.breaches + Number(breaches),
    ...(version !== undefined && { ms: Number(ms), bytes: Number(bytes), version }),
  };
}

function afterFault(result: ServerResult, outcome: string): ServerResult {
  const isMissed = /^\d+ attempts, 0 breaches$|^nothing in \d+ attempts$/.test(outcome);
  return { ...result, faults: result.faults + 1, found: result.found + (isMissed ? 0 : 1) };
}

/** One write of a recorded history. Times are those of the writer's clock, in milliseconds. */
export interface HistoryWrite {
  readonly key: string;
  readonly is: 'create' | 'overwrite' | 'delete';
  /** When it was sent. */
  readonly begunAt: number;
  /** When it was answered; absent when it failed: it may have been done nevertheless. */
  readonly acknowledgedAt?: number;
  /** Why it failed. */
  readonly failure?: string;
  /** What was sent; absent for a deletion. */
  readonly body?: string;
  /** The whole object as it was answered, without what a restore changes; only known of what is acknowledged. */
  readonly text?: string;
  readonly resourceVersion?: string;
}

/** An object as it is found. */
export interface FoundObject {
  readonly body: string;
  readonly text: string;
}

/** A time in which a recorded history was as what is found; both ends belong to it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What a recorded history says about what is found. */
export interface HistoryVerdict {
  /** When all keys together were as they are found: writes acknowledged before are there, none begun after is. Ascending. */
  readonly spans: readonly Span[];
  /** What never was. */
  readonly differences: readonly string[];
}

/** Writes of one key, in their order. */
type KeyHistory = readonly HistoryWrite[];

/** Finds out when the keys of a recorded history, in which no two writes of a key overlap, were as they are found. */
export function compareWithHistory(
  writes: readonly HistoryWrite[],
  found: ReadonlyMap<string, FoundObject>,
): HistoryVerdict {
  const histories = historiesOf(writes);
  const differences: string[] = [];
  for (const key of found.keys()) if (!histories.has(key)) differences.push(`${key}: was never written`);
  const spans: Span[] = [];
  for (const [key, history] of histories) {
    const own = versionsAs(history, found.get(key)).map((version) => spanOf(history, version));
    if (own.length === 0) differences.push(differenceOf(key, history, found.get(key)));
    spans.push(...joined(own));
  }
  return { spans: differences.length > 0 ? [] : commonOf(spans, histories.size), differences };
}

/** Acknowledged writes that are later than what is found, where that is the state of a moment. */
export function lostAfter(
  writes: readonly HistoryWrite[],
  found: ReadonlyMap<string, FoundObject>,
  moment: number,
): readonly HistoryWrite[] {
  return [...historiesOf(writes)].flatMap(([key, history]) => {
    const isThen = (version: number): boolean => isWithin(moment, spanOf(history, version));
    const there = versionsAs(history, found.get(key)).findLast(isThen) ?? 0;
    return history.slice(there).filter(({ acknowledgedAt }) => acknowledgedAt !== undefined);
  });
}

export const isWithin = (moment: number, { from, to }: Span): boolean => from <= moment && moment <= to;

function historiesOf(writes: readonly HistoryWrite[]): ReadonlyMap<string, KeyHistory> {
  return Map.groupBy(
    writes.toSorted((one, other) => one.begunAt - other.begunAt),
    ({ key }) => key,
  );
}

/** Numbers of writes after which the key was as it is found; 0 is before the first. */
function versionsAs(history: KeyHistory, there: FoundObject | undefined): readonly number[] {
  const isAs = (write: HistoryWrite | undefined): boolean => {
    if (write === undefined || write.is === 'delete') return there === undefined;
    if (there === undefined) return false;
    return write.text === undefined ? write.body === there.body : write.text === there.text;
  };
  return Array.from({ length: history.length + 1 }, (_, version) => version).filter((version) =>
    isAs(version === 0 ? undefined : history[version - 1]),
  );
}

/** When a version may have been the current one: from its beginning until the next one was certainly there. */
function spanOf(history: KeyHistory, version: number): Span {
  const next = history.slice(version).find(({ acknowledgedAt }) => acknowledgedAt !== undefined);
  return {
    from: version === 0 ? -Infinity : (history[version - 1]?.begunAt ?? -Infinity),
    to: next?.acknowledgedAt ?? Infinity,
  };
}

/** Spans of one key without overlaps, ascending. */
function joined(spans: readonly Span[]): readonly Span[] {
  const found: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    const last = found.at(-1);
    if (last === undefined || last.to < span.from) found.push(span);
    else found[found.length - 1] = { from: last.from, to: Math.max(last.to, span.to) };
  }
  return found;
}

/** The times that so many keys have in common, each with spans that do not overlap. */
function commonOf(spans: readonly Span[], keys: number): readonly Span[] {
  // At the same time, beginnings come first: ends belong to a span.
  const edges = spans
    .flatMap(({ from, to }) => [
      { at: from, by: 1 },
      { at: to, by: -1 },
    ])
    .toSorted((one, other) => (one.at === other.at ? other.by - one.by : one.at - other.at));
  const common: Span[] = [];
  let covered = 0;
  let from: number | undefined = keys === 0 ? -Infinity : undefined;
  if (keys === 0) return [{ from: -Infinity, to: Infinity }];
  for (const { at, by } of edges) {
    if (covered === keys && by < 0 && from !== undefined) common.push({ from, to: at });
    covered += by;
    from = covered === keys ? at : undefined;
  }
  return common;
}

function differenceOf(key: string, history: KeyHistory, there: FoundObject | undefined): string {
  if (there === undefined) return `${key}: is absent, and was not after ${history.length} writes`;
  const written = history.findLast(({ body }) => body === there.body);
  if (written === undefined) return `${key}: has what was never written: ${there.body.slice(0, 80)}`;
  return `${key}: ${written.text ?? 'not answered'} → ${there.text}`;
}

import type { WrittenCounts } from './restore-rows.ts';
import { compareWithHistory, lostAfter } from './written-history.ts';
import type { FoundObject, HistoryVerdict, HistoryWrite, Span } from './written-history.ts';

/** What is found after a restore, against everything that was written. */
export interface LossOfWrites {
  readonly rpoMs: number;
  readonly lost: number;
  readonly lostOlder: number;
}

/** How near what is found is to a chosen moment. */
export interface Nearness {
  readonly missing: number;
  readonly early: number;
  readonly beforeMs: number;
}

/** A lost write may be so old when the last one is acknowledged. In milliseconds. */
export const mostLostMs = 10_000;

/** Writes take no longer. In milliseconds. */
const underWayMs = 1000;

/** Everything that was written until a tenant was destroyed. */
export class RecordedHistory {
  readonly writes: readonly HistoryWrite[];
  readonly #destroyedAt: number;

  constructor(writes: readonly HistoryWrite[], destroyedAt: number) {
    this.writes = writes;
    this.#destroyedAt = destroyedAt;
  }

  /** Those under way at the destruction do not count as failed. */
  get counts(): WrittenCounts {
    const { writes } = this;
    const before = writes.filter(({ begunAt }) => begunAt <= this.#destroyedAt - underWayMs);
    const acknowledged = before.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined);
    const seconds = (this.#destroyedAt - underWayMs - this.#firstAt) / 1000;
    const failure = before.find((write) => write.failure !== undefined)?.failure;
    return {
      ...{ acknowledged: writes.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined).length },
      ...{ seconds: Math.round(seconds), perSecond: Math.round((10 * acknowledged.length) / seconds) / 10 },
      failed: before.length - acknowledged.length,
      ...(failure !== undefined && { failure }),
    };
  }

  /** The whole second nearest to the middle of the time in which was written. */
  get middle(): Date {
    return new Date(Math.round((this.#firstAt + this.#destroyedAt) / 2000) * 1000);
  }

  get #firstAt(): number {
    return Math.min(...this.writes.map(({ begunAt }) => begunAt));
  }

  /** When the last write was acknowledged: until then the tenant was in use. */
  get #endedAt(): number {
    return Math.max(...this.writes.flatMap(({ acknowledgedAt = 0 }) => acknowledgedAt));
  }

  compare(found: ReadonlyMap<string, FoundObject>): HistoryVerdict {
    const verdict = compareWithHistory(this.writes, found);
    if (verdict.differences.length > 0 || verdict.spans.length > 0) return verdict;
    return { spans: [], differences: ['the history was at no time as what is found: an older write is missing'] };
  }

  /** What is lost if the tenant is as it was in the last of these times. */
  loss(found: ReadonlyMap<string, FoundObject>, { spans }: Pick<HistoryVerdict, 'spans'>): LossOfWrites {
    const to = spans.at(-1)?.to ?? -Infinity;
    const lost = lostAfter(this.writes, found, to);
    if (lost.length === 0) return { rpoMs: 0, lost: 0, lostOlder: 0 };
    const kept = this.writes.filter(({ acknowledgedAt }) => acknowledgedAt !== undefined && acknowledgedAt < to);
    const newest = Math.max(this.#firstAt, ...kept.map(({ acknowledgedAt = 0 }) => acknowledgedAt));
    const isOlder = ({ acknowledgedAt = 0 }: HistoryWrite): boolean => acknowledgedAt < this.#endedAt - mostLostMs;
    return { rpoMs: this.#endedAt - newest, lost: lost.length, lostOlder: lost.filter(isOlder).length };
  }

  /** How near the nearest of these times is to a moment, and which writes make the difference. */
  nearness(found: ReadonlyMap<string, FoundObject>, { spans }: Pick<HistoryVerdict, 'spans'>, moment: Date): Nearness {
    const at = moment.getTime();
    const distance = ({ from, to }: Span): number => Math.max(from - at, at - to, 0);
    const [nearest] = spans.toSorted((one, other) => distance(one) - distance(other));
    if (nearest === undefined) return { missing: 0, early: 0, beforeMs: 0 };
    const wasAcknowledged = ({ acknowledgedAt }: HistoryWrite): boolean =>
      acknowledgedAt !== undefined && acknowledgedAt < at;
    const isBefore = nearest.to < at;
    const isAfter = nearest.from > at;
    return {
      missing: isBefore ? lostAfter(this.writes, found, nearest.to).filter(wasAcknowledged).length : 0,
      early: isAfter ? this.writes.filter(({ begunAt }) => begunAt > at && begunAt <= nearest.from).length : 0,
      beforeMs: isBefore ? at - nearest.to : isAfter ? at - nearest.from : 0,
    };
  }
}

/** What became of the writes of one process in a measured time, in milliseconds. Also sent between processes. */
export interface WriteSamples {
  /** Of all tenants but the measured one. */
  readonly othersMs: readonly number[];
  readonly measuredMs: readonly number[];
  /** What failed, writes, reads and watches, and for example why. */
  readonly failed: number;
  readonly failure?: string;
}

/** A write that has begun. */
export interface BegunWrite {
  readonly at: number;
  readonly isMeasured: boolean;
}

/** Later answers are not waited for: what has waited so long at the end of the measured time counts with that. */
const lateMs = 1_000;

/** Collects the writes of a process. Times are those of its own clock. */
export class WriteRecorder {
  readonly #underWay = new Set<BegunWrite>();
  #othersMs: number[] = [];
  #measuredMs: number[] = [];
  #failed = 0;
  #failure: string | undefined;

  /** A new measured time begins. */
  begin(): void {
    this.#othersMs = [];
    this.#measuredMs = [];
    this.#failed = 0;
    this.#failure = undefined;
  }

  began(write: BegunWrite): void {
    this.#underWay.add(write);
  }

  answered(write: BegunWrite, now: number): void {
    this.#underWay.delete(write);
    this.#sampled(write, now);
  }

  /** A write, if one is given, or anything else. */
  failed(why: string, write?: BegunWrite): void {
    if (write !== undefined) this.#underWay.delete(write);
    this.#failed += 1;
    this.#failure ??= why;
  }

  /** What there is since the measured time began. */
  end(now: number): WriteSamples {
    for (const write of this.#underWay) if (now - write.at > lateMs) this.#sampled(write, now);
    return {
      ...{ othersMs: this.#othersMs, measuredMs: this.#measuredMs, failed: this.#failed },
      ...(this.#failure !== undefined && { failure: this.#failure }),
    };
  }

  #sampled({ at, isMeasured }: BegunWrite, now: number): void {
    // Tenths of milliseconds are exact enough, and short.
    (isMeasured ? this.#measuredMs : this.#othersMs).push(Math.round((now - at) * 10) / 10);
  }
}

/** The samples of several processes as one. */
export function joinSamples(all: readonly WriteSamples[]): WriteSamples {
  const failure = all.find((one) => one.failure !== undefined)?.failure;
  return {
    othersMs: all.flatMap(({ othersMs }) => othersMs),
    measuredMs: all.flatMap(({ measuredMs }) => measuredMs),
    failed: all.reduce((sum, { failed }) => sum + failed, 0),
    ...(failure !== undefined && { failure }),
  };
}

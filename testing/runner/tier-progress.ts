import type { JestReport } from './tier-result.ts';

type FileReport = NonNullable<JestReport['testResults']>[number];

/** What a run of jest says while it goes on. */
export type ProgressMessage =
  | { readonly is: 'began'; readonly files: number }
  | { readonly is: 'file began'; readonly file: string }
  | { readonly is: 'file ended'; readonly report: FileReport };

/** What is known of a run of jest that may never end. */
export class TierProgress {
  /** How many files the run is of; undefined until its first test may begin. */
  files: number | undefined;
  /** Seconds that each ended file took. */
  readonly seconds = new Map<string, number>();
  readonly #running = new Map<string, number>();
  readonly #ended: FileReport[] = [];
  readonly #now: () => number;

  /** `now` gives milliseconds that only grow. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  hear(message: ProgressMessage): void {
    if (message.is === 'began') this.files = message.files;
    else if (message.is === 'file began') this.#running.set(message.file, this.#now());
    else {
      const { name } = message.report;
      this.seconds.set(name, (this.#now() - (this.#running.get(name) ?? this.#now())) / 1000);
      this.#running.delete(name);
      this.#ended.push(message.report);
    }
  }

  /** Files that began and did not end. */
  get running(): readonly string[] {
    return [...this.#running.keys()];
  }

  /** The report of what ended. */
  get report(): JestReport {
    return { testResults: this.#ended };
  }

  /** What is not finished, for a person. `fromHere` shortens a path. */
  unfinished(fromHere: (file: string) => string): string {
    if (this.files === undefined) return 'no test had begun';
    const waiting = this.files - this.#ended.length - this.#running.size;
    const running = this.running.map(fromHere).join(', ') || 'none';
    return `unfinished of ${this.files} files: ${running}; ${waiting} had not begun`;
  }
}

import { logStep } from '../log.ts';

/** What happened when, in seconds since the begin; printed as it happens and once more as a whole. */
export class Timeline {
  readonly #title: string;
  readonly #began = performance.now();
  readonly #lines: string[] = [];

  constructor(title: string) {
    this.#title = title;
  }

  /** Notes that something has happened. */
  note(what: string): void {
    const seconds = ((performance.now() - this.#began) / 1000).toFixed(1).padStart(7);
    this.#lines.push(`${seconds} s  ${what}`);
    logStep(this.#title, what);
  }

  /** Prints everything in its order. */
  print(): void {
    logStep(this.#title, ['timeline', ...this.#lines].join('\n'));
  }
}

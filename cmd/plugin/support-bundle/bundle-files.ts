import { setImmediate } from 'node:timers/promises';
import { dataText, shownObject } from '../output/print-objects.ts';
import { describeFailure } from '../../../runtime/observe/describe-failure.ts';
import type { Draft } from '../../../api/meta.ts';
import { redactLongText, redactObject, redactText } from './redact.ts';

/** The files of a support bundle. Everything goes through the redaction on its way in. */
export class BundleFiles {
  readonly #interrupted: AbortSignal;
  readonly #files = new Map<string, Buffer>();
  readonly #problems: string[] = [];

  /** `interrupted` ends the collection; a lack of time or of permissions only leaves something out. */
  constructor(interrupted: AbortSignal) {
    this.#interrupted = interrupted;
  }

  /** Adds objects as YAML. Without objects, no file is added. */
  addObjects(path: string, objects: readonly Draft[]): void {
    if (objects.length === 0) return;
    const items = objects.map((object) => redactObject(shownObject(object)));
    const [only] = items;
    this.#add(path, dataText(items.length === 1 ? only : { apiVersion: 'v1', kind: 'List', items }, 'yaml'));
  }

  /** Adds text, such as a log, which may be large: other work goes on in between. */
  async addText(path: string, text: string): Promise<void> {
    if (text !== '') this.#add(path, await redactLongText(text, () => setImmediate()));
  }

  /** Runs a step; if it fails, the bundle says what is missing and why. */
  async attempt(what: string, step: () => Promise<void>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.#interrupted.throwIfAborted();
      const why = describeFailure(error);
      this.#problems.push(redactText(`${what}: ${why}`).replaceAll(/\s*\n\s*/g, ' '));
    }
  }

  /** What could not be collected. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** All files, with a list of what is missing. */
  all(): ReadonlyMap<string, Buffer> {
    const missing = this.#problems.length === 0 ? 'Nothing.\n' : this.#problems.map((line) => `${line}\n`).join('');
    return new Map([...this.#files, ['missing.txt', Buffer.from(missing)]]);
  }

  #add(path: string, text: string): void {
    this.#files.set(path, Buffer.from(text, 'utf8'));
  }
}

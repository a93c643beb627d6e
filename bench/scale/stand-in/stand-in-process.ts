import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

import type { HostedCounts } from './hosted-tenants.ts';
import type { StandInAnswer, StandInQuestion } from './stand-in.ts';

type Asked = StandInQuestion extends infer Each ? (Each extends unknown ? Omit<Each, 'number'> : never) : never;

/** The process that serves all tenants, seen from the one that measures. It ends with it. */
export class StandInProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #open = new Map<number, PromiseWithResolvers<StandInAnswer>>();
  #asked = 0;

  private constructor(kubeconfigPath: string) {
    this.#child = fork(new URL('./stand-in.ts', import.meta.url), [kubeconfigPath]);
    this.#child.on('message', (answer: StandInAnswer) => {
      this.#open.get(answer.number)?.resolve(answer);
      this.#open.delete(answer.number);
    });
    this.#child.once('exit', (code) => {
      const error = new Error(`The stand-in for tenants' API servers ended with code ${code ?? '?'}.`);
      for (const { reject } of this.#open.values()) reject(error);
      this.#open.clear();
    });
  }

  /** Starts it; resolves when it serves tenants of the management cluster. */
  static async start(kubeconfigPath: string): Promise<StandInProcess> {
    const started = new StandInProcess(kubeconfigPath);
    await started.#answerTo(0);
    return started;
  }

  async counts(): Promise<HostedCounts> {
    const { counts } = await this.#ask({ what: 'counts' });
    if (counts === undefined) throw new Error('The stand-in answered without counts.');
    return counts;
  }

  /** The node of these control planes (`namespace/name`) dies. */
  async takeDown(ids: readonly string[]): Promise<void> {
    await this.#ask({ what: 'down', ids });
  }

  /** They run again. */
  async bringUp(ids: readonly string[]): Promise<void> {
    await this.#ask({ what: 'up', ids });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#child.once('exit', () => {
      resolve(undefined);
    });
    this.#child.disconnect();
    await promise;
  }

  #ask(question: Asked): Promise<StandInAnswer> {
    this.#asked += 1;
    const number = this.#asked;
    const answer = this.#answerTo(number);
    this.#child.send({ number, ...question } satisfies StandInQuestion);
    return answer;
  }

  #answerTo(number: number): Promise<StandInAnswer> {
    const waiting = Promise.withResolvers<StandInAnswer>();
    this.#open.set(number, waiting);
    return waiting.promise;
  }
}

import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

import type { LoadAnswer, LoadOrder } from './load-orders.ts';
import type { TenantLoadOptions, TenantTarget } from './tenant-load.ts';
import { joinSamples } from './write-samples.ts';
import type { WriteSamples } from './write-samples.ts';

/** Tenants of one process: a connection for each kind of so many needs fewer files and ports than a process may have. */
const tenantsOfProcess = 150;

/** What all tenants have in common. */
export type LoadOptions = Pick<TenantLoadOptions, 'kinds' | 'connections'>;

/** The API servers of all tenants: few processes, so that what they cost is small against the datastore. */
export class LoadProcesses implements Disposable {
  readonly #options: LoadOptions;
  readonly #processes: LoadProcess[] = [];
  #tenants = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Resolves when the tenant's API server has connected and watches; the first tenant is the measured one. */
  async add(target: TenantTarget): Promise<void> {
    const number = this.#tenants;
    this.#tenants += 1;
    const at = Math.floor(number / tenantsOfProcess);
    const process = (this.#processes[at] ??= new LoadProcess());
    // Any address of the loopback network is one of this host.
    const options = { ...this.#options, target, localAddress: `127.0.1.${at + 1}` };
    const answer = await process.ask({ is: 'add', tenant: { number, isMeasured: number === 0 }, options }, number);
    if (answer.is === 'added' && answer.failure !== undefined)
      throw new Error(`The API server of tenant ${number} has no datastore: ${answer.failure}`);
  }

  /** All that were added are loaded from now on. */
  async load(): Promise<void> {
    await this.#all({ is: 'load' });
  }

  async begin(): Promise<void> {
    await this.#all({ is: 'begin' });
  }

  async end(): Promise<WriteSamples> {
    const answers = await this.#all({ is: 'end' });
    return joinSamples(answers.flatMap((answer) => (answer.is === 'ended' ? [answer.samples] : [])));
  }

  [Symbol.dispose](): void {
    for (const process of this.#processes) process[Symbol.dispose]();
  }

  #all(order: LoadOrder): Promise<readonly LoadAnswer[]> {
    return Promise.all(this.#processes.map((process) => process.ask(order)));
  }
}

/** One process; disposing of it ends it. */
class LoadProcess implements Disposable {
  readonly #child: ChildProcess;
  /** Who waits for what: `added` with the number of a tenant, all others by themselves. */
  readonly #waiting = new Map<string, PromiseWithResolvers<LoadAnswer>>();

  constructor() {
    this.#child = fork(new URL('load-process.ts', import.meta.url));
    this.#child.on('message', (answer: LoadAnswer) => {
      const key = answer.is === 'added' ? String(answer.number) : answerOf[answer.is];
      this.#waiting.get(key)?.resolve(answer);
      this.#waiting.delete(key);
    });
    const fail = (error: Error): void => {
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    this.#child.once('error', fail);
    this.#child.once('exit', (code, signal) => {
      fail(new Error(`A process that makes load has ended with ${signal ?? `code ${code ?? '?'}`}.`));
    });
  }

  ask(order: LoadOrder, number?: number): Promise<LoadAnswer> {
    const waiting = Promise.withResolvers<LoadAnswer>();
    if (!this.#child.connected) throw new Error('A process that makes load has ended.');
    this.#waiting.set(number === undefined ? order.is : String(number), waiting);
    this.#child.send(order);
    return waiting.promise;
  }

  [Symbol.dispose](): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}

/** The order that an answer is for. */
const answerOf = { loading: 'load', begun: 'begin', ended: 'end' } as const;

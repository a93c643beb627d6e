import { setTimeout as pause } from 'node:timers/promises';

import type { ManagerLook } from './manager-metrics.ts';
import { ScaleManager } from './scale-manager.ts';
import type { ManagerProgram } from './scale-manager.ts';
import { sumOfLooks } from './sum-of-looks.ts';

const joinWithinMs = 60_000;

/** One manager, or several that share the tenants. They are measured together. */
export class ScaleManagers implements AsyncDisposable {
  readonly #all: readonly ScaleManager[];

  private constructor(all: readonly ScaleManager[]) {
    this.#all = all;
  }

  /** Nothing runs yet. The webhooks are those of the first one. */
  static async of(program: ManagerProgram, kubeconfig: string, count: number): Promise<ScaleManagers> {
    const shards = count > 1;
    const first = await ScaleManager.of(program, { kubeconfig, shards });
    const all = [first];
    for (let number = 1; number < count; number += 1) {
      const webhookUrl = `https://localhost:${first.webhookPort}`;
      all.push(await ScaleManager.of(program, { name: `manager-${number}`, kubeconfig, webhookUrl, shards }));
    }
    return new ScaleManagers(all);
  }

  /** Starts them, and waits until they are ready and know each other. */
  async start(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.start()));
    const deadline = performance.now() + joinWithinMs;
    while (this.#all.length > 1) {
      const looks = await Promise.all(this.#all.map((one) => one.look()));
      if (looks.every(({ members }) => members === this.#all.length)) return;
      if (performance.now() > deadline) throw new Error('The managers do not find each other.');
      await pause(200);
    }
  }

  /** Ends them as the kubelet does. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stop()));
  }

  /** The look with which a measurement begins. */
  async begin(): Promise<ManagerLook> {
    return sumOfLooks(await Promise.all(this.#all.map((one) => one.begin())));
  }

  async look(): Promise<ManagerLook> {
    return sumOfLooks(await Promise.all(this.#all.map((one) => one.look())));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all.map((one) => one.kill()));
  }
}

import { kinds } from '../../../api/core/kinds.ts';
import type { Job } from '../../../api/core/kinds.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import type { ChaosWorld } from './chaos-world.ts';
import { ProductProcess } from './product-process.ts';
import { runJob } from './run-job.ts';
import { managerNamespace } from './start-manager.ts';

/** What a kubelet waits before it starts a program again that has failed: twice as long each time. */
const firstPauseMs = 10_000;

/** A program that is asked to end has so long. */
const graceMs = 30_000;

/** A Job at work. */
interface Running {
  readonly stop: AbortController;
  failures: number;
  process: ProductProcess | undefined;
  isDue: boolean;
}

/** The kubelet and the controller of Jobs: runs the program of each Job until it has succeeded, or has failed too often. */
export class JobProcesses {
  readonly #world: ChaosWorld;
  readonly #running = new Map<string, Running>();

  constructor(world: ChaosWorld) {
    this.#world = world;
  }

  /** Nothing that works now has any further effect. */
  kill(): void {
    for (const { process } of this.#running.values()) process?.kill();
    this.#running.clear();
  }

  /** Starts what is to run, and ends what is not. */
  async tick(): Promise<void> {
    const { items } = await this.#world.cluster.admin.list(kinds.Job, { namespace: managerNamespace });
    const open = items.filter(({ status }) => status?.conditions === undefined);
    const wanted = new Set(open.map(({ metadata }) => metadata.uid));
    for (const [uid, job] of this.#running) {
      if (wanted.has(uid)) continue;
      this.#running.delete(uid);
      this.#end(job);
    }
    for (const job of open) this.#keepRunning(job);
  }

  #end({ stop, process }: Running): void {
    stop.abort(new Error('the process was asked to terminate (SIGTERM)'));
    if (process !== undefined)
      this.#world.clock.after(graceMs, () => {
        process.kill();
      });
  }

  #keepRunning(job: Job): void {
    const { uid } = job.metadata;
    const known = this.#running.get(uid) ?? {
      stop: new AbortController(),
      failures: 0,
      process: undefined,
      isDue: true,
    };
    this.#running.set(uid, known);
    if (!known.isDue) return;
    known.isDue = false;
    const [name = ''] = job.spec?.template.spec?.containers[0]?.args ?? [];
    const process = new ProductProcess(name === 'migrate' ? 'migration' : name, this.#world.clock, this.#world);
    known.process = process;
    // A process that is killed is seen to have ended, whatever becomes of its promise.
    const killed = new Promise<never>((_, reject) => {
      process.died(() => {
        reject(new Error('the process was killed'));
      });
    });
    Promise.race([this.#run(process, job, known.stop.signal), killed])
      .then(
        () => this.#finish(job, 'Complete'),
        (error: unknown) => {
          this.#world.noteMistake('the program of a Job', error);
          return this.#failed(job, known);
        },
      )
      .catch((error: unknown) => {
        this.#world.mistakes.push(`the end of a Job cannot be reported: ${String(error)}`);
      });
  }

  #run(process: ProductProcess, job: Job, signal: AbortSignal): Promise<void> {
    const world = this.#world;
    const args = job.spec?.template.spec?.containers[0]?.args ?? [];
    const drivers = [world.store.driver, world.target.driver];
    return runJob(process, args, {
      ...{ drivers, signal, log: silent },
      management: world.cluster,
      repository: world.repository,
    });
  }

  async #failed(job: Job, known: Running): Promise<void> {
    known.failures += 1;
    known.process?.kill();
    if (known.failures > (job.spec?.backoffLimit ?? 6)) {
      await this.#finish(job, 'Failed');
      return;
    }
    this.#world.clock.after(firstPauseMs * 2 ** (known.failures - 1), () => {
      known.isDue = true;
    });
  }

  async #finish({ metadata: { name, uid } }: Job, type: 'Complete' | 'Failed'): Promise<void> {
    const { admin } = this.#world.cluster;
    const key = { namespace: managerNamespace, name };
    if ((await admin.get(kinds.Job, key))?.metadata.uid !== uid) return;
    const body = { status: { conditions: [{ type, status: 'True', reason: type, message: `the Job is ${type}` }] } };
    await admin.patch(kinds.Job, key, { type: 'merge', body }, { subresource: 'status' });
  }
}

import { setImmediate, setTimeout } from 'node:timers/promises';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { seededNumber } from '../../../e2e/framework/run-seed.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import type { Logger } from '../../../runtime/observe/logger.ts';
import { everything } from '../../fake/fake-faults.ts';
import type { MemoryStore } from '../../fake/memory-driver.ts';
import type { MemoryTenancy } from '../../fake/memory-tenancy.ts';
import { BackupWorld } from '../../worlds/backup-world.ts';
import { withoutUids } from '../outcome/plain-text.ts';
import { JobProcesses } from './job-processes.ts';
import { ProductProcess } from './product-process.ts';
import type { Passage } from './product-process.ts';
import type { MadeCall, ProductCall } from './product-call.ts';
import { startManager } from './start-manager.ts';
import { TenantUser } from './tenant-user.ts';

/** What a fault does to a call. */
export interface Strike {
  readonly world: ChaosWorld;
  readonly process: ProductProcess;
  readonly call: ProductCall;
}

/** Does something to a call in place of just sending it. */
export type Striking = <T>(strike: Strike, send: () => Promise<T>, signal: AbortSignal | undefined) => Promise<T>;

/** Refuses calls from now on by throwing, until the returned function is called. */
type Rule = (call: ProductCall) => void;

/** A second between two looks of the kubelet and of the user. */
const tickMs = 1000;

/** Steps of a random number. */
const resolution = 1_000_000;

/** A manager that has ended is started again after this time. */
const restartMs = 1500;

/** Turns of the event loop without a call after which nothing goes on. */
const fewestTurns = 2;

/** The same while a reconcile is under way: it may wait for time, or for a key that another thread generates. */
const patientTurns = 20;
const patientMs = 15;

/**
 * A management cluster, a tenant and datastores in memory, and the product as processes that work by themselves: managers with queues,
 * caches and leader election, and the processes of their Jobs. All time is that of one clock, which stands still while anything can go on.
 */
export class ChaosWorld extends BackupWorld implements Passage {
  readonly user = new TenantUser();
  /** Calls that were made since `arm`, in their order. */
  readonly calls: MadeCall[] = [];
  /** Mistakes of the code that the product only logs. */
  readonly mistakes: string[] = [];
  /** Whether a user works with the tenant. */
  isUsed = true;
  /** Spoils the clients of managers, for a test of this runner. */
  spoil: ((cluster: Cluster) => Cluster) | undefined;
  readonly #jobs = new JobProcesses(this);
  readonly #managers = new Map<string, ProductProcess>();
  /** Every manager that there was. */
  readonly #former = new Set<ProductProcess>();
  readonly #rules = new Set<Rule>();
  #fault: { readonly at: number; readonly strike: Striking } | undefined;
  #isArmed = false;
  #instances = 0;
  #busy = 0;
  #held = 0;
  #passed = 0;

  readonly #random: () => number;

  /** @param seed decides how long managers wait where they wait for a random time. */
  constructor(seed = 0) {
    super({ beside: everything });
    let drawn = 0;
    this.#random = () => {
      drawn += 1;
      return seededNumber(seed, `wait ${drawn}`, 0, resolution) / resolution;
    };
  }

  override async copyFrom(other: this): Promise<void> {
    await super.copyFrom(other);
    for (const [name, content] of other.repository.files) this.repository.files.set(name, content);
    this.user.copyFrom(other.user);
    this.isUsed = other.isUsed;
  }

  /** From now on calls are counted; `strike` gets the one with the number `at`. */
  arm(fault?: { readonly at: number; readonly strike: Striking }): void {
    this.calls.length = 0;
    this.#isArmed = true;
    this.#fault = fault;
  }

  /** Starts a manager in a pod, or one that acts without being elected. When it ends, another one is started in its place. */
  startManager(pod: string | undefined): ProductProcess {
    this.#instances += 1;
    const instance = String(this.#instances);
    const process = new ProductProcess('manager', this.clock, this);
    const place = pod ?? 'unasked';
    this.#managers.set(place, process);
    this.#former.add(process);
    let running = 0;
    startManager(process, {
      management: this.cluster,
      tenant: this.tenant,
      drivers: [this.store.driver, this.target.driver],
      log: this.#log(),
      random: this.#random,
      ...{ pod, instance },
      spoil: this.spoil,
      busy: {
        began: () => {
          if (process.isDead) return;
          running += 1;
          this.#busy += 1;
        },
        ended: () => {
          if (process.isDead) return;
          running -= 1;
          this.#busy -= 1;
        },
        panicked: () => this.mistakes.push('a reconcile crashed'),
      },
      exit: () => {
        this.kill(process);
      },
    });
    // What a dead process had begun is not waited for.
    process.died(() => {
      this.#busy -= running;
      if (this.#managers.get(place) !== process) return;
      this.clock.after(restartMs, () => {
        if (this.#managers.get(place) === process) this.startManager(pod);
      });
    });
    return process;
  }

  /** Ends all processes of the product for good. */
  stopAll(): void {
    this.#jobs.kill();
    const all = [...this.#managers.values()];
    this.#managers.clear();
    for (const process of all) process.kill();
    for (const process of this.#former) process.release();
    this.#former.clear();
  }

  /** Ends a process; whoever runs it starts another one. */
  kill(process: ProductProcess): void {
    process.kill();
  }

  /** Whether a manager runs in this pod. */
  runsIn(pod: string): boolean {
    return this.#managers.has(pod);
  }

  /** Refuses calls of all processes for so long. */
  refuse(ms: number, rule: Rule): void {
    this.#rules.add(rule);
    this.clock.after(ms, () => {
      this.#rules.delete(rule);
    });
  }

  /** Sends a request when so much time has passed. Its sender does not hear of the answer, but a mistake of the code is kept. */
  sendLate(ms: number, send: () => Promise<unknown>): void {
    this.clock.after(ms, () => {
      send().catch((error: unknown) => {
        this.noteMistake('a late request', error);
      });
    });
  }

  /** Keeps an error that no server, and no cut connection, can be the cause of. */
  noteMistake(where: string, error: unknown): void {
    const isMistake = error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
    if (isMistake) this.mistakes.push(`${where}: ${error.message}`);
  }

  /** Resolves when so much time has passed; a signal ends it. */
  async hold(ms: number, signal?: AbortSignal): Promise<void> {
    this.#held += 1;
    const over = Promise.withResolvers<undefined>();
    const timer = this.clock.after(ms, () => {
      over.resolve(undefined);
    });
    const aborted = (): void => {
      over.reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', aborted, { once: true });
    try {
      await over.promise;
    } finally {
      timer.cancel();
      signal?.removeEventListener('abort', aborted);
      this.#held -= 1;
    }
  }

  async strike<T>(
    process: ProductProcess,
    call: ProductCall,
    send: () => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    this.#passed += 1;
    if (!this.#isArmed || call.isAside) return send();
    this.calls.push({ ...call, text: withoutUids(call.text), process: process.name });
    if (this.#fault?.at === this.calls.length) return this.#fault.strike({ world: this, process, call }, send, signal);
    for (const rule of this.#rules) rule(call);
    return send();
  }

  /** Lets everything go on by itself until the goal is reached; false if that takes longer than so many seconds. */
  async goOn(seconds: number, reached: () => Promise<boolean>): Promise<boolean> {
    const end = this.clock.now().getTime() + seconds * 1000;
    for (;;) {
      await this.#rest();
      if (await reached()) return true;
      const now = this.clock.now().getTime();
      if (now >= end) return false;
      await this.#until(now + tickMs);
      await this.#tick();
    }
  }

  /** Lets so many seconds pass. */
  async pass(seconds: number): Promise<void> {
    await this.goOn(seconds, () => Promise.resolve(false));
  }

  /** The store behind a DataStore of this world. */
  storeNamed(name: string | undefined): MemoryStore {
    return name === 'other' ? this.target : this.store;
  }

  /** The data that the tenant uses, as its status says. */
  async dataInUse(): Promise<MemoryTenancy | undefined> {
    if (!(await this.exists())) return undefined;
    const { dataStoreName, setup } = (await this.read()).status?.storage ?? {};
    const { schema } = setup ?? {};
    return schema === undefined ? undefined : this.storeNamed(dataStoreName).data.get(schema);
  }

  readDataStore(name: string): Promise<DataStore | undefined> {
    return this.cluster.admin.get(dataStore, { name });
  }

  async #until(time: number): Promise<void> {
    for (;;) {
      const left = time - this.clock.now().getTime();
      const due = this.clock.nextDueMs ?? Infinity;
      await this.clock.advance(Math.max(Math.min(left, due), 0));
      await this.#rest();
      if (due >= left) return;
    }
  }

  /** What others do in a second: kubelets run Jobs, the garbage collector takes pods, the user uses the tenant. */
  async #tick(): Promise<void> {
    await this.#jobs.tick();
    if ((await this.deployment()) === undefined && (await this.pods()).length > 0) await this.collectPods();
    if (!this.isUsed || !(await this.exists()) || (await this.frozen())) return;
    const [reached] = await this.reached();
    if (reached === undefined) return;
    const store = this.storeNamed(reached);
    this.user.use(store.dataOf(await this.#schemaIn(store)));
  }

  /** The tenant's schema in a store. */
  async #schemaIn(store: MemoryStore): Promise<string> {
    const schema = (await this.read()).status?.storage?.setup?.schema;
    const [first = ''] = store.tenancies.keys();
    return schema !== undefined && store.tenancies.has(schema) ? schema : first;
  }

  /**
   * Resolves when nothing can go on without time: no reconcile is under way, or those that are make no calls and have had the time to
   * generate a key.
   */
  async #rest(): Promise<void> {
    let passed = -1;
    let still = 0;
    let since = performance.now();
    for (;;) {
      await setImmediate();
      if (passed !== this.#passed) {
        passed = this.#passed;
        still = 0;
        since = performance.now();
      } else still += 1;
      if (this.#busy === 0 && still >= fewestTurns) return;
      if (still < patientTurns) continue;
      if (this.#held > 0 || performance.now() - since >= patientMs) return;
      await setTimeout(1);
    }
  }

  #log(): Logger {
    const log: Logger = {
      ...silent,
      error: (message, fields) => {
        this.noteMistake(message, fields?.error);
      },
      with: () => log,
    };
    return log;
  }
}

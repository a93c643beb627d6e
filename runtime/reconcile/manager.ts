import type { Clock } from '../clock.ts';
import { sleep } from '../clock.ts';
import type { Key } from '../../api/meta.ts';
import type { Controller } from './controller.ts';
import { ControllerRunner, type RunnerTools, type ReconcileMetrics } from './controller-runner.ts';
import type { EventRecorder } from '../observe/event-recorder.ts';
import type { HealthCheck } from '../observe/health-check.ts';
import type { Informer } from '../cache/informer.ts';
import type { QueueMetrics } from '../queue/queue.ts';

export interface ManagerOptions extends Omit<RunnerTools, 'events' | 'metrics' | 'queueMetrics'> {
  readonly controllers: readonly Controller[];
  readonly events: EventRecorder;
  /** Counters of one controller. */
  readonly metricsOf?: (controller: string) => { readonly reconciles: ReconcileMetrics; readonly queue: QueueMetrics };
}

/** When a start that waits logs for the first time what it waits for; then at growing intervals, up to the second value. */
const remindMs = { first: 10_000, last: 300_000 } as const;
/** How long an aborted reconcile may take to end. */
const afterAbortMs = 2_000;

/** All controllers of one cluster, from start to stop. */
export class Manager {
  readonly #options: ManagerOptions;
  readonly #runners: readonly ControllerRunner[];
  #state: 'new' | 'following' | 'working' | 'stopped' = 'new';

  /** Throws if two controllers have the same name. */
  constructor(options: ManagerOptions) {
    this.#options = options;
    const names = options.controllers.map(({ name }) => name);
    const twice = names.find((name, n) => names.indexOf(name) !== n);
    if (twice !== undefined) throw new Error(`two controllers are named ${twice}: their metrics and logs would mix`);
    this.#runners = options.controllers.map((controller) => {
      const metrics = options.metricsOf?.(controller.name);
      const { cluster, informers, clock, log, events, memory, share } = options;
      return new ControllerRunner(controller, {
        cluster,
        informers,
        clock,
        log,
        events,
        memory,
        ...(share !== undefined && { share }),
        ...(metrics === undefined ? {} : { metrics: metrics.reconciles, queueMetrics: metrics.queue }),
      });
    });
  }

  /** Fills the caches without reconciling anything: for a replica that stands by. Resolves when all are complete. */
  async follow(): Promise<void> {
    if (this.#state === 'new') {
      this.#state = 'following';
      for (const runner of this.#runners) runner.follow();
    }
    await this.#synced();
  }

  /** Fills the caches, then reconciles. With leader election, call it when elected. */
  async start(): Promise<void> {
    await this.follow();
    if (this.#state !== 'following') return;
    this.#state = 'working';
    for (const runner of this.#runners) runner.work();
    this.#options.log.info('controllers have started', { controllers: this.#runners.map(({ name }) => name) });
  }

  /** Whether it has a controller of this name. */
  has(controller: string): boolean {
    return this.#runners.some(({ name }) => name === controller);
  }

  /** The kinds whose caches have never been complete, each with the reason that is known. */
  waitsFor(): readonly string[] {
    return this.#informers().flatMap((informer) => {
      const { synced, absent, failure } = informer.health();
      if (synced) return [];
      const name = qualifiedName(informer);
      if (absent) return [`${name}: there is no such API; is its CustomResourceDefinition installed?`];
      return [failure === undefined ? name : `${name}: ${failure}`];
    });
  }

  /** Enqueues the object as if it had changed. Throws for an unknown controller. */
  enqueue(controller: string, key: Key): void {
    const runner = this.#runners.find(({ name }) => name === controller);
    if (runner === undefined) throw new Error(`there is no controller ${controller}`);
    runner.enqueue(key);
  }

  /**
   * Accepts no more keys, gives running reconciles `graceMs` to end, then aborts them. Resolves when they have ended and
   * the Events are written, or `afterAbortMs` after the abort: a reconcile that ignores its signal does not delay the
   * process. False if there is such a one: it may still write.
   */
  async stop(graceMs: number, reason = 'the manager is stopping'): Promise<boolean> {
    this.#state = 'stopped';
    for (const runner of this.#runners) runner.quiesce();
    const drained = Promise.all(this.#runners.map((runner) => runner.drained()));
    if (graceMs > 0 && (await this.#within(graceMs, drained))) {
      await this.#within(afterAbortMs, this.#options.events.flush());
      return true;
    }
    for (const runner of this.#runners) runner.abort(new Error(reason));
    const isAtRest = await this.#within(afterAbortMs, drained);
    if (!isAtRest) this.#options.log.warn('reconciles ignored the abort and were abandoned', { reason });
    if (graceMs > 0) await this.#within(afterAbortMs, this.#options.events.flush());
    return isAtRest;
  }

  /** Seconds of the reconciles that run now, per controller. */
  runningSeconds(): ReadonlyMap<string, readonly number[]> {
    return new Map(this.#runners.map((runner) => [runner.name, runner.runningSeconds()]));
  }

  /** How much queues and schedules remember of keys: nothing at rest, when no object is left. */
  remembered(): number {
    return this.#runners.reduce((sum, runner) => sum + runner.remembered, 0);
  }

  /** Readiness: every cache is complete and none has been failing for longer than `staleMs`. */
  checks(staleMs = 60_000): readonly HealthCheck[] {
    const now = (): number => this.#options.clock.now().getTime();
    const check = (informer: Informer): string | undefined => {
      const { synced, failingSince, failure } = informer.health();
      if (!synced) return `not complete yet${failure === undefined ? '' : `: ${failure}`}`;
      if (failingSince === undefined || now() - failingSince < staleMs) return undefined;
      return `failing for ${Math.round((now() - failingSince) / 1000)} s: ${failure ?? 'unknown'}`;
    };
    return [
      {
        name: 'informer-sync',
        check: () => {
          if (this.#state === 'new') return 'not started';
          const ill = this.#informers().flatMap((informer) => {
            const why = check(informer);
            return why === undefined ? [] : [`${informer.kind.plural}: ${why}`];
          });
          return ill.length === 0 ? undefined : ill.join('; ');
        },
      },
    ];
  }

  #informers(): readonly Informer[] {
    return [...new Set(this.#runners.flatMap(({ informers }) => informers))];
  }

  async #synced(): Promise<void> {
    const all = Promise.all(this.#informers().map(({ synced }) => synced));
    let waitMs: number = remindMs.first;
    while (!(await this.#within(waitMs, all))) {
      this.#options.log.warn('still waiting for caches to sync', { waiting: this.waitsFor() });
      waitMs = Math.min(waitMs * 2, remindMs.last);
    }
  }

  /** True when the promise was fulfilled in time; its rejection is passed on. */
  async #within(ms: number, promise: Promise<unknown>): Promise<boolean> {
    return within(this.#options.clock, ms, promise);
  }
}

const qualifiedName = ({ kind: { plural, group } }: Informer): string => (group === '' ? plural : `${plural}.${group}`);

async function within(clock: Clock, ms: number, promise: Promise<unknown>): Promise<boolean> {
  const settled = new AbortController();
  const timeout = sleep(clock, ms, settled.signal).then(
    () => false,
    () => true,
  );
  try {
    return await Promise.race([promise.then(() => true), timeout]);
  } finally {
    settled.abort(new Error('no longer waited for'));
  }
}

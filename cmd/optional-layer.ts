import type { ForeignLease } from '../runtime/leader/foreign-lease.ts';
import type { HealthCheck } from '../runtime/observe/health-check.ts';
import type { Logger } from '../runtime/observe/logger.ts';
import type { Manager } from '../runtime/reconcile/manager.ts';

export interface OptionalLayerOptions {
  /** Lower-case with dashes, for logs and readiness. */
  readonly name: string;
  readonly manager: Pick<Manager, 'follow' | 'start' | 'stop' | 'waitsFor' | 'checks'>;
  /** Held by another program that does the same work. */
  readonly rival: Pick<ForeignLease, 'synced' | 'waitsFor' | 'holder'>;
  /** Why its webhooks are not trusted yet; undefined when they are. */
  readonly webhookTrouble: () => string | undefined;
  readonly log: Logger;
}

/**
 * Controllers that wait on their own for the CustomResourceDefinitions and permissions that they need, while the rest of the manager runs.
 */
export class OptionalLayer {
  readonly #options: OptionalLayerOptions;
  #stopped = false;
  #failure: string | undefined;

  constructor(options: OptionalLayerOptions) {
    this.#options = options;
  }

  /** Fills its caches from now on, and reconciles once they are complete and `mayWork` is resolved. Never rejects. */
  async run(mayWork: Promise<void>): Promise<void> {
    const { manager, rival, log, name } = this.#options;
    try {
      await manager.follow();
      const unknown = rival.waitsFor();
      if (unknown !== undefined)
        log.warn('the layer does not know yet whether another program does the same work', { unknown });
      await rival.synced;
      await mayWork;
      await manager.start();
    } catch (error) {
      if (this.#stopped) return;
      this.#failure = error instanceof Error ? error.message : String(error);
      log.error('an optional layer is not running', { layer: name, error });
    }
  }

  /** Ends it as `Manager.stop` does. */
  async stop(graceMs: number): Promise<boolean> {
    this.#stopped = true;
    return this.#options.manager.stop(graceMs);
  }

  /** What it waits for: definitions and rights by name, its webhooks, or another program that does its work. */
  get health(): HealthCheck {
    return { name: this.#options.name, optional: true, check: () => this.#trouble() };
  }

  #trouble(): string | undefined {
    const { manager, rival, webhookTrouble } = this.#options;
    if (this.#failure !== undefined) return this.#failure;
    const missing = [...manager.waitsFor(), rival.waitsFor() ?? []].flat();
    if (missing.length > 0) return missing.join('; ');
    if (rival.holder !== undefined)
      return `it is paused while ${rival.holder} does the same work: only one of the two may run`;
    const webhooks = webhookTrouble();
    const failing = manager.checks().flatMap((check) => check.check() ?? []);
    return [...failing, ...(webhooks === undefined ? [] : [`webhooks: ${webhooks}`])].join('; ') || undefined;
  }
}

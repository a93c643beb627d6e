import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { ScaleFleet } from './fleet/scale-fleet.ts';
import { scaleLine } from './scale-report.ts';
import { scaleStages } from './scale-rows.ts';
import type { ScaleRow, ScaleStage } from './scale-rows.ts';
import { measureDelete, storeContent } from './stages/measure-delete.ts';
import type { StoreContent } from './stages/measure-delete.ts';
import { measureEvents } from './stages/measure-events.ts';
import { measureOneMore } from './stages/measure-one-more.ts';
import { measureRest } from './stages/measure-rest.ts';
import { measureRestart } from './stages/measure-restart.ts';
import { measureStandIn } from './stages/measure-stand-in.ts';
import { measureThroughput } from './stages/measure-throughput.ts';

/** How much is measured. */
export interface ScaleOptions {
  readonly stages: readonly ScaleStage[];
  /** Numbers of tenants at which the manager rests, ascending. */
  readonly tenants: readonly number[];
  /** Seconds of rest before each look at rest, and of it. */
  readonly idleSeconds: number;
  /** How many managers share the tenants. */
  readonly managers: number;
}

/** Created at once at most, and there in the stages after that. */
const mostAtOnce = 1_000;

/** Measures the manager with many tenants, one stage after the other. */
export async function measureScale(options: ScaleOptions, progress: Progress): Promise<readonly ScaleRow[]> {
  const tell = (step: string): void => {
    progress('scale', step);
  };
  await using fleet = await ScaleFleet.start(tell, options.managers);
  const run = new ScaleRun(fleet, options, progress);
  for (const stage of scaleStages) if (options.stages.includes(stage)) await run.stage(stage);
  return run.rows;
}

class ScaleRun {
  readonly rows: ScaleRow[] = [];
  readonly #fleet: ScaleFleet;
  readonly #options: ScaleOptions;
  readonly #progress: Progress;
  #empty: StoreContent | undefined;

  constructor(fleet: ScaleFleet, options: ScaleOptions, progress: Progress) {
    this.#fleet = fleet;
    this.#options = options;
    this.#progress = progress;
  }

  async stage(stage: ScaleStage): Promise<void> {
    const fleet = this.#fleet;
    this.#empty ??= await storeContent(fleet);
    if (stage === 'standin') this.#found(await this.#standIn());
    else if (stage === 'rest') await this.#rest();
    else if (stage === 'delete') this.#found(await this.#delete(this.#empty));
    else if (stage === 'throughput') this.#found(await this.#throughput(this.#empty));
    else {
      await this.#ensure(this.#atOnce);
      if (stage === 'restart') this.#found(await measureRestart(fleet));
      else if (stage === 'onemore') this.#found(await measureOneMore(fleet));
      else for (const row of await measureEvents(fleet)) this.#found(row);
    }
  }

  get #most(): number {
    return Math.max(...this.#options.tenants);
  }

  get #atOnce(): number {
    return Math.min(mostAtOnce, this.#most);
  }

  async #rest(): Promise<void> {
    for (const tenants of this.#options.tenants) {
      await this.#ensure(tenants);
      this.#progress('scale', `${tenants} tenants rest for twice ${this.#options.idleSeconds} s`);
      this.#found(await measureRest(this.#fleet, this.#options.idleSeconds));
    }
  }

  async #delete(empty: StoreContent): Promise<ScaleRow> {
    await this.#ensure(this.#most);
    return measureDelete(this.#fleet, { empty, restSeconds: this.#options.idleSeconds });
  }

  async #throughput(empty: StoreContent): Promise<ScaleRow> {
    const fleet = this.#fleet;
    if (fleet.tenants.list().length > 0) await measureDelete(fleet, { empty, restSeconds: 0 });
    await this.#restartManager();
    return measureThroughput(fleet, this.#atOnce);
  }

  async #standIn(): Promise<ScaleRow> {
    const row = await measureStandIn(this.#fleet);
    await this.#restartManager();
    return row;
  }

  /** What earlier stages left in the manager's memory, and what they had compiled, is gone. */
  async #restartManager(): Promise<void> {
    await this.#fleet.manager.stop();
    await this.#fleet.manager.start();
  }

  async #ensure(tenants: number): Promise<void> {
    const missing = tenants - this.#fleet.tenants.list().length;
    if (missing <= 0) return;
    this.#progress('scale', `${missing} more tenants`);
    await this.#fleet.create(missing);
  }

  #found(row: ScaleRow): void {
    const { managers } = this.#options;
    this.rows.push(managers === 1 ? row : { ...row, managers });
    this.#progress('scale', scaleLine(row));
  }
}

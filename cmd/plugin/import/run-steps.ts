import { sleep } from '../../../runtime/clock.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { pluginFieldManager } from '../control-plane/change-control-plane.ts';
import { exitCodes } from '../frame/exit-codes.ts';
import { PluginError } from '../frame/plugin-error.ts';
import type { World } from '../frame/world.ts';
import { nextStep } from './import-step.ts';
import type { Action, ImportStep } from './import-step.ts';

const pollMs = 1_000;

/** What runs the steps of an import. */
export interface Running<S> {
  readonly name: string;
  readonly steps: readonly ImportStep<S>[];
  readonly read: () => Promise<S>;
  readonly world: World;
  readonly cluster: Cluster;
  readonly signal: AbortSignal;
}

/**
 * Does what the steps say, one after the other, until all are done. Everything is read again before each write, and nothing is remembered
 * in between: a run that was stopped continues where it stopped, whichever write was the last.
 * @throws PluginError if a step cannot be done, or not in time.
 */
export async function runSteps<S>({ name, steps, read, world, cluster, signal }: Running<S>): Promise<S> {
  let shown = '';
  const show = (line: string): void => {
    if (line !== shown) world.note(line);
    shown = line;
  };
  try {
    for (;;) {
      const facts = await orAgain(read);
      if (facts === undefined) continue;
      const found = nextStep(steps, facts.value);
      if (found === undefined) return facts.value;
      const { step, next } = found;
      const head = `${name}: ${steps.indexOf(step) + 1}/${steps.length} ${step.title}`;
      switch (next.is) {
        case 'failed':
          throw new PluginError(`${head}: ${next.message}`);
        case 'absent':
          throw new PluginError(`${head}: ${next.message}`, exitCodes.absent);
        case 'wait':
          show(`${head}; waiting for ${next.for}`);
          await sleep(world.clock, pollMs, signal);
          break;
        case 'act':
          show(head);
          for (const action of next.actions) await orAgain(() => perform(action, cluster, signal));
      }
    }
  } catch (error) {
    const isLate = signal.aborted && error === signal.reason && error instanceof PluginError;
    if (!isLate) throw error;
    const message = `${error.message}; last seen: ${shown}. Run the same command again to go on, or with --undo to go back`;
    throw new PluginError(message, error.exitCode, { cause: error });
  }

  /** Undefined if the API server could not answer, or if something changed in the meantime: then everything is read again. */
  async function orAgain<T>(work: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    try {
      return { value: await work() };
    } catch (error) {
      if (signal.aborted || !canPass(error)) throw error;
      show(`${name}: ${error.message}; trying again`);
      await sleep(world.clock, pollMs, signal);
      return undefined;
    }
  }
}

function canPass(error: unknown): error is Error {
  if (error instanceof UnreachableError) return true;
  return error instanceof ApiError && (error.code >= 500 || error.code === 429 || error.code === 409);
}

async function perform(action: Action, cluster: Cluster, signal: AbortSignal): Promise<void> {
  const options = { fieldManager: pluginFieldManager, signal };
  switch (action.do) {
    case 'create':
      await cluster.create(action.kind, action.manifest, options);
      return;
    case 'patch': {
      const { kind, key, body, subresource } = action;
      await cluster.patch(kind, key, { type: 'merge', body }, { ...options, subresource });
      return;
    }
    case 'delete': {
      const { kind, key, uid, propagation } = action;
      await cluster.delete(kind, key, { uid, propagation, signal });
    }
  }
}

import { afterAll, expect } from '@jest/globals';

import { leftovers, removeHarness } from '../cluster/remove-harness.ts';

/** What a file of scenarios owns, until all its tests are over. */
export interface ScenarioResources {
  /** Is disposed of at the end, before what was there earlier. */
  use<T extends AsyncDisposable>(resource: T): T;
  /** Is done at the end, before what was there earlier. */
  defer(work: () => unknown): void;
  /** Says which harness the file makes, and returns its name: when all is disposed of, nothing of it may be left on the host. */
  harness(name: string): string;
}

/**
 * Registers what ends a file of scenarios. Everything is disposed of, also when something of it fails. Then this host is looked at:
 * what is left of the file's harnesses, limits of the host that nobody needs anymore among it, is removed and fails the file.
 */
export function scenarioResources(): ScenarioResources {
  const stack = new AsyncDisposableStack();
  const harnesses: string[] = [];
  afterAll(async () => {
    const disposed = await stack.disposeAsync().then(
      () => [],
      (error: unknown) => [error],
    );
    const left = (await Promise.all(harnesses.map(leftovers))).flat();
    for (const name of harnesses) await removeHarness(name);
    for (const error of disposed) throw error;
    expect(left).toEqual([]);
  }, 300_000);
  return {
    use: (resource) => stack.use(resource),
    defer: (work) => {
      stack.defer(async () => {
        await work();
      });
    },
    harness: (name) => {
      harnesses.push(name);
      return name;
    },
  };
}

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { JestOutcome } from './run-jest.ts';
import { runScenarios } from './run-scenarios.ts';
import type { ScenarioLimits } from './run-scenarios.ts';
import { scenarioFile } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { scenarioOrder } from './scenario-order.ts';
import type { ScenarioWork } from './scenario-work.ts';

const own: readonly Scenario[] = ['harness', 'demo', 'quick-starts'].map((name) => ({ name, shares: undefined }));
const steward: readonly Scenario[] = ['tenants', 'exposure', 'konnectivity'].map((name) => ({
  name,
  shares: 'steward',
}));
const capi: readonly Scenario[] = ['topology', 'workers'].map((name) => ({ name, shares: 'capi' }));
const every = [...own, ...steward, ...capi];

const limits = (changes: Partial<ScenarioLimits> = {}): ScenarioLimits => ({
  until: undefined,
  seed: 7,
  leftOut: [],
  lanes: 1,
  signal: new AbortController().signal,
  fromHere: (file) => file,
  ...changes,
});

/** A host in which scenarios take no time but on a clock that counts seconds. */
class FakeWork implements ScenarioWork {
  readonly all: readonly Scenario[];
  readonly log: string[] = [];
  readonly told: string[] = [];
  /** Names that fail, with how often they still do. */
  readonly failing = new Map<string, number>();
  /** Shared clusters that are up. */
  readonly up = new Set<string>();
  /** What stays of a removed cluster. */
  left: readonly string[] = [];
  seconds = 10;
  most = 0;
  onRun: (name: string, atOnce: number) => void = () => undefined;
  #now = 0;
  #running: string[] = [];

  constructor(all: readonly Scenario[] = every) {
    this.all = all;
  }

  prepare(): Promise<void> {
    return Promise.resolve();
  }
  scenarios(): Promise<readonly Scenario[]> {
    return Promise.resolve(this.all);
  }
  async run(name: string): Promise<JestOutcome> {
    const { shares } = this.all.find((each) => each.name === name) ?? {};
    const beside = this.#running.map((other) => this.all.find((each) => each.name === other)?.shares);
    if (shares !== undefined && beside.includes(shares)) throw new Error(`two use the shared cluster ${shares}`);
    if (shares !== undefined && !this.up.has(shares)) {
      this.log.push(`start ${shares}`);
      this.up.add(shares);
    }
    this.#running.push(name);
    this.most = Math.max(this.most, this.#running.length);
    this.log.push(name);
    this.onRun(name, this.#running.length);
    // The others of its time begin.
    await new Promise((resolve) => setImmediate(resolve));
    this.#now += this.seconds * 1000;
    this.#running = this.#running.filter((each) => each !== name);
    const fails = this.failing.get(name) ?? 0;
    this.failing.set(name, fails - 1);
    const outcome = fails > 0 ? 'failed' : 'passed';
    return { tests: [{ file: scenarioFile(name), name: 'works', outcome, seconds: 1 }], files: new Map() };
  }
  removeShared(kind?: string): Promise<readonly string[]> {
    const gone = [...this.up].filter((each) => kind === undefined || each === kind);
    for (const each of gone) {
      this.log.push(`remove ${each}`);
      this.up.delete(each);
    }
    return Promise.resolve(gone.length > 0 ? this.left : []);
  }
  now(): number {
    return this.#now;
  }
  print(line: string): void {
    this.told.push(line);
  }
}

describe('scenarios', () => {
  test('run each once, in the order of the seed, with their times printed', async () => {
    const work = new FakeWork(own);
    const { tests, flaky, late } = await runScenarios(limits(), work);
    const order = scenarioOrder(own, 7).map(({ name }) => name);
    expect(work.log).toEqual(order);
    expect(tests.map(({ file, outcome }) => [file, outcome])).toEqual(
      order.map((name) => [scenarioFile(name), 'passed']),
    );
    expect([flaky, late]).toEqual([[], []]);
    expect(work.told).toContain(`   10 s: ${order[0] ?? ''}`);
  });

  test('that are left out are not run', async () => {
    const work = new FakeWork(own);
    await runScenarios(limits({ leftOut: ['demo'] }), work);
    expect(work.log).toHaveLength(2);
    expect(work.log).not.toContain('demo');
  });

  test('that failed are run once more, and are flaky when they pass then', async () => {
    const work = new FakeWork(own);
    work.failing.set('demo', 1);
    const { tests, flaky } = await runScenarios(limits(), work);
    expect(work.log.filter((name) => name === 'demo')).toHaveLength(2);
    expect(work.log.at(-1)).toBe('demo');
    expect(tests.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(flaky.map(({ file }) => file)).toEqual([scenarioFile('demo')]);
    expect(work.told).toContain('── e2e: once more: demo');
  });

  test('that fail twice have failed, and are not run a third time', async () => {
    const work = new FakeWork(own);
    work.failing.set('demo', 9);
    const { tests, flaky } = await runScenarios(limits(), work);
    expect(work.log.filter((name) => name === 'demo')).toHaveLength(2);
    expect(tests.filter(({ outcome }) => outcome === 'failed').map(({ file }) => file)).toEqual([scenarioFile('demo')]);
    expect(flaky).toEqual([]);
  });

  test('of which more than three failed are not run again', async () => {
    const work = new FakeWork();
    for (const name of ['demo', 'tenants', 'topology', 'workers']) work.failing.set(name, 1);
    const { tests } = await runScenarios(limits(), work);
    expect(tests.filter(({ outcome }) => outcome === 'failed')).toHaveLength(4);
    expect(work.told.filter((line) => line.includes('once more'))).toEqual([]);
  });

  test('for which no time is left are named and not run', async () => {
    const work = new FakeWork(own);
    work.seconds = 200;
    const { late } = await runScenarios(limits({ until: 300_000 }), work);
    expect(work.log.length).toBeLessThan(3);
    expect([...work.log, ...late].toSorted()).toEqual(own.map(({ name }) => name).toSorted());
  });

  test('begin no more when the tests are interrupted', async () => {
    const end = new AbortController();
    const work = new FakeWork();
    work.onRun = () => {
      end.abort(new Error('enough'));
    };
    const { tests } = await runScenarios(limits({ signal: end.signal }), work);
    expect(tests).toHaveLength(1);
    expect(work.up.size).toBe(0);
  });

  test('are not run when they cannot be prepared', async () => {
    const work = new FakeWork();
    work.prepare = () => Promise.reject(new Error('no compiler'));
    const { tests } = await runScenarios(limits(), work);
    expect(tests.map(({ name, outcome }) => [name, outcome])).toEqual([
      ['scenarios could not be prepared: no compiler', 'failed'],
    ]);
    expect(work.log).toEqual([]);
  });

  test('do not wait for what is built when the tests are interrupted', async () => {
    const end = new AbortController();
    const work = new FakeWork();
    work.prepare = (signal: AbortSignal = end.signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
        end.abort(new Error('enough'));
      });
    expect(await runScenarios(limits({ signal: end.signal }), work)).toEqual({ tests: [], flaky: [], late: [] });
    expect(work.log).toEqual([]);
  });
});

describe('scenarios that share a cluster', () => {
  test('follow each other, and it is removed as soon as none of them is left', async () => {
    const work = new FakeWork();
    await runScenarios(limits(), work);
    const position = (what: string): number => work.log.indexOf(what);
    for (const [kind, sharing] of [
      ['steward', steward],
      ['capi', capi],
    ] as const) {
      expect(work.log.filter((line) => line === `start ${kind}`)).toHaveLength(1);
      const between = work.log.slice(position(`start ${kind}`) + 1, position(`remove ${kind}`));
      expect(between.toSorted()).toEqual(sharing.map(({ name }) => name).toSorted());
    }
  });

  test('get another one when one of them has failed, and so does its second run', async () => {
    const work = new FakeWork(steward);
    const [first = ''] = scenarioOrder(steward, 7).map(({ name }) => name);
    work.failing.set(first, 1);
    await runScenarios(limits(), work);
    expect(work.log.slice(0, 4)).toEqual(['start steward', first, 'remove steward', 'start steward']);
    expect(work.log.slice(-4)).toEqual(['remove steward', 'start steward', first, 'remove steward']);
  });

  test('leave none up when there is no time for the rest of them', async () => {
    const work = new FakeWork(steward);
    work.seconds = 400;
    const { late } = await runScenarios(limits({ until: 500_000 }), work);
    expect(late.length).toBeGreaterThan(0);
    expect(work.up.size).toBe(0);
  });

  test('fail the run when something of their cluster is left on the host', async () => {
    const work = new FakeWork(steward);
    work.left = ['link stw0', 'process 17'];
    const { tests } = await runScenarios(limits(), work);
    expect(tests.filter(({ outcome }) => outcome === 'failed').map(({ name }) => name)).toEqual([
      'a cluster that scenarios share leaves nothing on the host: link stw0, process 17',
    ]);
  });
});

test('in lanes, each scenario is run once, and no two use the same shared cluster at the same time', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(2 ** 31 - 1), fc.integer({ min: 1, max: 4 }), async (seed, lanes) => {
      const work = new FakeWork();
      const { tests } = await runScenarios(limits({ seed, lanes }), work);
      expect(tests.map(({ file }) => file).toSorted()).toEqual(every.map(({ name }) => scenarioFile(name)).toSorted());
      expect(work.most).toBeLessThanOrEqual(lanes);
      expect(lanes === 1 || work.most > 1).toBe(true);
      expect(work.up.size).toBe(0);
    }),
    { numRuns: 30 },
  );
});

test('scenarios run one after the other on a machine that turns out to be slow, and at once again when it is no longer', async () => {
  const names = Array.from({ length: 16 }, (_, n) => `scenario-${n}`);
  const work = new FakeWork(names.map((name) => ({ name, shares: undefined })));
  const atOnce: number[] = [];
  work.onRun = (_name, count) => {
    atOnce.push(count);
    work.seconds = atOnce.length <= 2 ? 1000 : 50;
  };
  await runScenarios(limits({ lanes: 2 }), work);
  expect(atOnce.slice(0, 2)).toEqual([1, 2]);
  const slow = atOnce.slice(2, 6);
  expect(slow).toEqual(slow.map(() => 1));
  expect(atOnce.slice(10)).toContain(2);
});

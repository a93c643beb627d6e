import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { conditionsOf } from './conditions.ts';
import type { Context } from './controller.ts';
import { RetryError, TerminalError } from '../client/errors.ts';
import { silent } from '../observe/logger.ts';
import type { Outcome, Phase } from './phases.ts';
import { resultOf } from './result-of.ts';
import { definePhases, runPhases } from './run-phases.ts';

interface Scope {
  readonly name: string;
  readonly ca?: string;
  readonly port?: number;
}

const ctx: Context = { signal: new AbortController().signal, now: new Date(0), log: silent, event: () => undefined };
const done = (learned: Partial<Scope> = {}): Outcome<Scope> => ({ is: 'done', learned });
const phase = (name: string, needs: readonly string[], run: Phase<Scope>['run']): Phase<Scope> => ({
  name,
  needs,
  condition: `${name}Ready`,
  run,
});
const ok = (name: string, ...needs: string[]): Phase<Scope> => phase(name, needs, () => Promise.resolve(done()));

describe('Running phases', () => {
  test('a phase that is done may request a requeue, like one that waits', async () => {
    const report = await runPhases<Scope>(
      [phase('left', [], () => Promise.resolve({ is: 'done', afterMs: 700 })), ok('other')],
      { name: 'x' },
      ctx,
    );
    expect(resultOf(report)).toEqual({ afterMs: 700 });
    expect(conditionsOf(report).map(({ status }) => status)).toEqual(['True', 'True']);
  });

  test('findings of a phase are reported, and stop no phase that needs it', async () => {
    const error = new RetryError('NoRoute', 'the route was refused', 500);
    const findings = [
      {
        condition: 'endpointReady',
        outcome: { is: 'waiting', reason: 'NotExposed', message: 'no port yet', afterMs: 900 },
      },
      { condition: 'agentsReady', error },
      { condition: 'agentsReady', outcome: { is: 'done', message: 'fine' } },
    ] as const;
    const report = await runPhases<Scope>(
      [
        phase('endpoint', [], () => Promise.resolve({ is: 'done', learned: { port: 1 }, findings })),
        ok('pods', 'endpoint'),
      ],
      { name: 'x' },
      ctx,
    );
    expect(conditionsOf(report)).toEqual([
      { type: 'endpointReady', status: 'False', reason: 'NotExposed', message: 'no port yet' },
      { type: 'agentsReady', status: 'False', reason: 'NoRoute', message: 'the route was refused' },
      { type: 'podsReady', status: 'True', reason: 'Succeeded', message: '' },
    ]);
    expect(resultOf(report)).toEqual({ error, afterMs: 900 });
  });

  test('a blocked phase does not set its condition if that describes what comes before', async () => {
    const waits = phase('waits', [], () => Promise.resolve({ is: 'waiting', reason: 'Why', message: 'not yet' }));
    const cleanUp = { ...ok('cleanUp', 'waits'), condition: 'usable' };
    const isSilentWhenBlocked = true;
    const of = async (one: Phase<Scope>) => conditionsOf(await runPhases<Scope>([waits, one], { name: 'x' }, ctx));
    const told = { type: 'waitsReady', status: 'False', reason: 'Why', message: 'not yet' };
    expect(await of(cleanUp)).toEqual([
      told,
      { type: 'usable', status: 'Unknown', reason: 'Blocked', message: 'waiting for waitsReady: not yet' },
    ]);
    expect(await of({ ...cleanUp, isSilentWhenBlocked })).toEqual([told]);
    const alone = { ...cleanUp, needs: [], isSilentWhenBlocked };
    expect((await of(alone)).map(({ status }) => status)).toEqual(['False', 'True']);
  });

  test('a kind can merge the facts of several phases in another way than taking the last one', async () => {
    const learns = (name: string, ...needs: string[]) =>
      phase(name, needs, () => Promise.resolve({ is: 'done', learned: { name } }));
    const seen: string[] = [];
    const last = phase('last', ['first', 'second'], ({ name }) => {
      seen.push(name);
      return Promise.resolve({ is: 'done' });
    });
    const { scope } = await runPhases<Scope>(
      [learns('first'), learns('second'), last],
      { name: 'x' },
      ctx,
      (before, learned) => ({ ...before, name: [before.name, ...learned.flatMap((one) => one?.name ?? [])].join(' ') }),
    );
    expect([scope.name, ...seen]).toEqual(['x first second', 'x first second']);
  });

  test('a phase that runs after others runs when they have ended, whatever their outcome', async () => {
    const ended: string[] = [];
    const slow = Promise.withResolvers<Outcome<Scope>>();
    const bad = (name: string, run: Phase<Scope>['run']): Phase<Scope> => phase(name, [], run);
    let seen: Scope | undefined;
    const running = runPhases<Scope>(
      [
        bad('fails', () => Promise.reject(new Error('no'))),
        bad('waits', () => Promise.resolve({ is: 'waiting', reason: 'Why', message: '' })),
        bad('slow', () => slow.promise),
        ok('blocked', 'fails'),
        {
          ...phase('last', [], (scope) => {
            ended.push('last');
            seen = scope;
            return Promise.resolve(done());
          }),
          after: ['fails', 'waits', 'slow', 'blocked'],
        },
      ],
      { name: 'x' },
      ctx,
    );
    await new Promise(setImmediate);
    expect(ended).toEqual([]);
    slow.resolve(done({ ca: 'CA' }));
    const report = await running;
    expect(ended).toEqual(['last']);
    expect(seen).toEqual({ name: 'x', ca: 'CA' });
    expect(report.lines.find(({ phase: { name } }) => name === 'last')?.outcome?.is).toBe('done');
  });

  test('a phase can run neither after itself nor after an unknown phase', () => {
    expect(() => definePhases([{ ...ok('a', 'b') }, { ...ok('b'), after: ['a'] }])).toThrow('in a cycle');
    expect(() => definePhases([{ ...ok('a'), after: ['b'] }])).toThrow('is not among the phases');
  });

  test('a phase gets what its dependencies learned, directly or through others, and nothing else', async () => {
    const seen: Record<string, Scope> = {};
    const look = (name: string, needs: readonly string[], learned: Partial<Scope> = {}): Phase<Scope> =>
      phase(name, needs, (scope) => {
        seen[name] = scope;
        return Promise.resolve(done(learned));
      });
    const report = await runPhases(
      [
        look('pki', [], { ca: 'CA' }),
        look('service', [], { port: 6443 }),
        look('kubeconfig', ['pki']),
        look('deployment', ['kubeconfig']),
      ],
      { name: 'tenant' },
      ctx,
    );
    expect(seen).toEqual({
      pki: { name: 'tenant' },
      service: { name: 'tenant' },
      kubeconfig: { name: 'tenant', ca: 'CA' },
      deployment: { name: 'tenant', ca: 'CA' },
    });
    expect(report.scope).toEqual({ name: 'tenant', ca: 'CA', port: 6443 });
    expect(Object.isFrozen(seen.deployment)).toBe(true);
  });

  test('phases without an order run in parallel', async () => {
    const gate = Promise.withResolvers<undefined>();
    const phases = [
      phase('a', [], async () => {
        await gate.promise;
        return done();
      }),
      phase('b', [], () => {
        gate.resolve(undefined);
        return Promise.resolve(done());
      }),
    ];
    const report = await runPhases(phases, { name: 'x' }, ctx);
    expect(report.lines.map(({ outcome }) => outcome?.is)).toEqual(['done', 'done']);
  });

  test('an error or a wait stops only the phases that need it, and the root cause is named', async () => {
    const boom = new Error('boom');
    const report = await runPhases(
      [
        phase('store', [], () => Promise.reject(boom)),
        phase('service', [], () =>
          Promise.resolve({ is: 'waiting', reason: 'NoAddress', message: 'no address yet', afterMs: 900 }),
        ),
        ok('schema', 'store'),
        ok('deployment', 'service', 'schema'),
        ok('pki'),
      ],
      { name: 'x' },
      ctx,
    );
    expect(report.lines.map(({ phase, blockedBy }) => [phase.name, blockedBy])).toEqual([
      ['store', undefined],
      ['service', undefined],
      ['schema', 'store'],
      ['deployment', 'service'],
      ['pki', undefined],
    ]);
    expect(resultOf(report)).toEqual({ error: boom, afterMs: 900 });
    expect(conditionsOf(report)).toEqual([
      { type: 'storeReady', status: 'False', reason: 'Failed', message: 'boom' },
      { type: 'serviceReady', status: 'False', reason: 'NoAddress', message: 'no address yet' },
      { type: 'schemaReady', status: 'Unknown', reason: 'Blocked', message: 'waiting for storeReady: boom' },
      {
        type: 'deploymentReady',
        status: 'Unknown',
        reason: 'Blocked',
        message: 'waiting for serviceReady: no address yet',
      },
      { type: 'pkiReady', status: 'True', reason: 'Succeeded', message: '' },
    ]);
  });

  test('several errors are reported together', async () => {
    const errors = [new TerminalError('Bad', 'bad'), new RetryError('Busy', 'busy', 5)];
    const report = await runPhases(
      errors.map((error, n) => phase(`p${n}`, [], () => Promise.reject(error))),
      { name: 'x' },
      ctx,
    );
    expect((resultOf(report).error as AggregateError).errors).toEqual(errors);
  });

  test('an aborted reconcile begins no further phase', async () => {
    const controller = new AbortController();
    const stop = new Error('the manager stops');
    let later = false;
    const report = await runPhases(
      [
        phase('a', [], () => {
          controller.abort(stop);
          return Promise.resolve(done());
        }),
        phase('b', ['a'], () => {
          later = true;
          return Promise.resolve(done());
        }),
      ],
      { name: 'x' },
      { ...ctx, signal: controller.signal },
    );
    expect({ later, error: report.lines[1]?.error }).toEqual({ later: false, error: stop });
  });

  test.each([
    ['a need that no phase has', [ok('a', 'ghost')], 'phase a needs ghost, which is not among the phases'],
    ['a circle', [ok('a', 'c'), ok('b', 'a'), ok('c', 'b')], 'phases depend on each other in a cycle: a → c → b → a'],
    ['a phase that needs itself', [ok('a', 'a')], 'a → a'],
    ['a name twice', [ok('a'), ok('a')], 'two phases are named a'],
    [
      'a need without a condition, which a blocked condition could not name,',
      [{ ...ok('a'), condition: undefined }, ok('b', 'a')],
      'phase b needs a, which has no condition that bReady could name',
    ],
  ])('%s is refused when the list is built', (_, phases, message) => {
    expect(() => definePhases(phases)).toThrow(message);
  });

  test('in any list, a phase runs exactly if all its dependencies are done, each once and after them', async () => {
    const lists = fc
      .array(
        fc.record({
          outcome: fc.constantFrom('done', 'waiting', 'error'),
          needs: fc.array(fc.nat(9), { maxLength: 3 }),
        }),
        {
          maxLength: 10,
        },
      )
      .chain((rows) =>
        fc.tuple(
          fc.constant(rows),
          fc.shuffledSubarray(
            rows.map((_, n) => n),
            { minLength: rows.length },
          ),
        ),
      );
    await fc.assert(
      fc.asyncProperty(lists, async ([rows, order]) => {
        const ran: string[] = [];
        const needsOf = (n: number): number[] => [...new Set(rows[n]?.needs.filter((need) => need < n))];
        const phases = order.map((n) =>
          phase(
            `p${n}`,
            needsOf(n).map((need) => `p${need}`),
            () => {
              for (const need of needsOf(n)) expect(ran).toContain(`p${need}`);
              expect(ran).not.toContain(`p${n}`);
              ran.push(`p${n}`);
              if (rows[n]?.outcome === 'error') return Promise.reject(new Error('no'));
              return Promise.resolve(
                rows[n]?.outcome === 'done' ? done() : { is: 'waiting', reason: 'R', message: 'm' },
              );
            },
          ),
        );
        await runPhases(phases, { name: 'x' }, ctx);
        const sound = (n: number): boolean => needsOf(n).every((need) => rows[need]?.outcome === 'done' && sound(need));
        expect(new Set(ran)).toEqual(new Set(rows.flatMap((_, n) => (sound(n) ? [`p${n}`] : []))));
      }),
    );
  });
});

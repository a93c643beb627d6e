import { expect, test } from '@jest/globals';
import { ApiError, UnreachableError } from '../runtime/client/errors.ts';
import { silent } from '../runtime/observe/logger.ts';
import { FakeClock, settle } from '../testing/fake/fake-clock.ts';
import { untilAnswered } from './until-answered.ts';

const outcomes =
  (...list: (Error | string)[]) =>
  () => {
    const next = list.shift();
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(next ?? 'too often');
  };

test('untilAnswered waits for a server that restarts', async () => {
  const clock = new FakeClock();
  const call = outcomes(new UnreachableError('refused'), new ApiError(503, 'ServiceUnavailable', 'not yet'), 'hello');
  const answer = untilAnswered(call, { clock, log: silent, signal: new AbortController().signal });
  for (let second = 0; second < 2; second++) {
    await settle();
    await clock.advance(1_000);
  }
  await expect(answer).resolves.toBe('hello');
});

test('untilAnswered does not retry a refusal', async () => {
  const clock = new FakeClock();
  const call = outcomes(new ApiError(403, 'Forbidden', 'no'));
  const answer = untilAnswered(call, { clock, log: silent, signal: new AbortController().signal });
  await expect(answer).rejects.toThrow('no');
});

test('untilAnswered stops waiting when its signal is aborted', async () => {
  const stop = new AbortController();
  const call = outcomes(new UnreachableError('refused'));
  const answer = untilAnswered(call, { clock: new FakeClock(), log: silent, signal: stop.signal });
  const given = expect(answer).rejects.toThrow('asked to end');
  await settle();
  stop.abort(new Error('asked to end'));
  await given;
});

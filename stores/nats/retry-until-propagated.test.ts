import { describe, expect, test } from '@jest/globals';
import { JetStreamRefusal } from './errors.ts';
import { onceSettled } from './retry-until-propagated.ts';

const limits = { within: 60_000, step: 0 };

/** Work that throws these errors, one an attempt, and succeeds then. */
function failing(...errors: readonly Error[]) {
  let attempts = 0;
  return (): Promise<number> => {
    const error = errors[attempts];
    attempts += 1;
    return error === undefined ? Promise.resolve(attempts) : Promise.reject(error);
  };
}

describe('A call in an account that was created a moment ago', () => {
  test.each([
    ['has JetStream off for it still', new JetStreamRefusal(10039, 'JetStream not enabled for account')],
    ['is electing a leader', new JetStreamRefusal(10008, 'JetStream system temporarily unavailable')],
    ['does not listen for it yet', new Error("no responders: '$JS.API.STREAM.CREATE.a'")],
  ])('is repeated while a server %s', async (_, error) => {
    expect(await onceSettled(failing(error, error), limits)).toBe(3);
  });

  test('is not repeated after a permanent refusal', async () => {
    const refusal = new JetStreamRefusal(10047, 'insufficient storage resources available');
    await expect(onceSettled(failing(refusal), limits)).rejects.toBe(refusal);
  });

  test('fails with the refusal if the servers do not agree in time', async () => {
    const refusal = new JetStreamRefusal(10039, 'JetStream not enabled for account');
    await expect(onceSettled(failing(refusal, refusal), { within: 0, step: 0 })).rejects.toBe(refusal);
  });
});

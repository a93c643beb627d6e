import { describe, expect, test } from '@jest/globals';
import { NatsClient } from './client.ts';
import { JetStreamRefusal } from './errors.ts';
import { bucketRecords } from './records.ts';

/** A server that answers its first requests to store a message with these errors. */
class LearningClient extends NatsClient {
  attempts = 0;
  readonly #errors: readonly Error[];

  constructor(...errors: readonly Error[]) {
    super({ endpoints: [], login: {}, loginName: 'the test' });
    this.#errors = errors;
  }

  override store(): Promise<number> {
    const error = this.#errors[this.attempts];
    this.attempts += 1;
    return error === undefined ? Promise.resolve(1) : Promise.reject(error);
  }
}

const record = { owner: 'x', schema: 'a', user: 'b' };

describe('The record of an owner', () => {
  test('is written once the servers of a cluster know the bucket that was made a moment ago', async () => {
    const client = new LearningClient(new Error("no responders: '$KV.steward-tenancies.schemas.a'"));
    expect(await bucketRecords(client).create('schemas.a', record)).toBe(true);
    expect(client.attempts).toBe(2);
  });

  test('is not written a second time over that of another owner', async () => {
    const client = new LearningClient(new JetStreamRefusal(10071, 'wrong last sequence: 1'));
    expect(await bucketRecords(client).create('schemas.a', record)).toBe(false);
    expect(client.attempts).toBe(1);
  });
});

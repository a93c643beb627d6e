import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { expect, test } from '@jest/globals';
import { listen, NatsRefusal } from './raw-client.ts';

type Callback = NonNullable<NonNullable<Parameters<NatsConnection['subscribe']>[1]>['callback']>;

/** A connection that only subscribes, and what its server tells it. */
function silentConnection(): { readonly client: Pick<NatsConnection, 'subscribe'>; tell: Callback; ended: boolean } {
  const told = {
    tell: (() => undefined) as Callback,
    ended: false,
    client: {
      subscribe: (_: string, { callback }: { readonly callback?: Callback } = {}) => {
        if (callback !== undefined) told.tell = callback;
        return { unsubscribe: () => void (told.ended = true) } as Subscription;
      },
    },
  };
  return told;
}

test('a refusal that arrives before a caller waits does not end the process, and rejects the wait that follows', async () => {
  const told = silentConnection();
  using ear = listen(told.client, 'x');
  await told.tell(new Error('permissions violation'), undefined as never);
  // An unhandled rejection would be reported by now.
  await new Promise((resolve) => setImmediate(resolve));
  await expect(ear.within(1000)).rejects.toThrow('permissions violation');
});

test('silence is a refusal only after the time that is waited for, and the subscription ends', async () => {
  const told = silentConnection();
  {
    using ear = listen(told.client, 'x');
    await new Promise((resolve) => setImmediate(resolve));
    await expect(ear.within(1)).rejects.toBeInstanceOf(NatsRefusal);
    expect(told.ended).toBe(false);
  }
  expect(told.ended).toBe(true);
});

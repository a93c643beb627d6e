import { describe, expect, test } from '@jest/globals';
import { silent } from '../../runtime/observe/logger.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { WakeRequests, repeatMs } from './wake-requests.ts';

/** Wake requests that are noted. Each is answered by `answer`. */
class Requested {
  readonly clock = new FakeClock();
  readonly sent: string[] = [];
  answer: () => Promise<void> = () => Promise.resolve();
  readonly requests = new WakeRequests({
    clock: this.clock,
    log: { ...silent, warn: (message) => this.warnings.push(message) },
    send: (tenant) => {
      this.sent.push(tenant);
      return this.answer();
    },
  });
  readonly warnings: string[] = [];
}

describe('Requests to wake up', () => {
  test('are sent at once, and once for all callers of a tenant', async () => {
    const { requests, sent, clock } = new Requested();
    const ends = Array.from({ length: 100 }, () => requests.want('a/shop'));
    requests.want('a/other');
    expect(sent).toEqual(['a/shop', 'a/other']);
    for (const end of ends) end();
    await clock.advance(repeatMs - 1);
    expect(sent).toHaveLength(2);
  });

  test('are repeated while somebody waits, and no longer', async () => {
    const { requests, sent, clock } = new Requested();
    const ends = [requests.want('a/shop'), requests.want('a/shop')];
    await clock.advance(2 * repeatMs);
    expect(sent).toHaveLength(3);
    ends[0]?.();
    ends[0]?.();
    await clock.advance(repeatMs);
    expect(sent).toHaveLength(4);
    ends[1]?.();
    await clock.advance(repeatMs);
    expect([sent.length, requests.size, clock.pending]).toEqual([4, 0, 0]);
  });

  test('are not sent more often for callers who come and go', async () => {
    const { requests, sent, clock } = new Requested();
    for (let call = 0; call < 1_000; call += 1) {
      requests.want('a/shop')();
      await clock.advance(repeatMs / 500);
    }
    expect(sent.length).toBeLessThanOrEqual(3);
  });

  test('that fail are logged and repeated', async () => {
    const world = new Requested();
    world.answer = () => Promise.reject(new Error('no answer'));
    world.requests.want('a/shop');
    await world.clock.advance(repeatMs);
    expect([world.sent.length, world.warnings.length]).toEqual([2, 2]);
  });

  test('of many tenants are sent a few at a time, each tenant once', async () => {
    const world = new Requested();
    const open: (() => void)[] = [];
    world.answer = () => new Promise((resolve) => open.push(resolve));
    for (let tenant = 0; tenant < 50; tenant += 1) world.requests.want(`a/${tenant}`);
    expect(world.sent).toHaveLength(8);
    await world.clock.advance(3 * repeatMs);
    expect(world.sent).toHaveLength(8);
    while (open.length > 0) {
      open.shift()?.();
      await world.clock.advance(0);
    }
    expect(new Set(world.sent).size).toBe(50);
  });

  test('are forgotten when it is closed', async () => {
    const { requests, sent, clock } = new Requested();
    requests.want('a/shop');
    requests.close();
    await clock.advance(5 * repeatMs);
    expect([sent.length, requests.size, clock.pending]).toEqual([1, 0, 0]);
  });
});

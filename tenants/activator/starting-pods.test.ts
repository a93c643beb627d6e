import { describe, expect, test } from '@jest/globals';
import { silent } from '../../runtime/observe/logger.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import type { PodAddress } from './ready-pods.ts';
import { StartingPods, askMs } from './starting-pods.ts';

const shop = 'tenants/shop';
const pod = (last: number): PodAddress => ({ host: `192.0.2.${last}`, port: 6443 });

/** Pods that start, which answer when they are in `ready`. What is asked and told is noted. */
class Asked {
  readonly clock = new FakeClock();
  readonly ready = new Set<string>();
  readonly asked: string[] = [];
  readonly told: (readonly [tenant: string, hosts: readonly string[]])[] = [];
  readonly pods = new StartingPods({
    clock: this.clock,
    log: silent,
    pods: { tell: (tenant, addresses) => this.told.push([tenant, addresses.map(({ host }) => host)]) },
    answers: ({ host }) => {
      this.asked.push(host);
      return Promise.resolve(this.ready.has(host));
    },
  });
}

describe('Pods that start', () => {
  test('are asked while somebody waits, and the one that answers is told', async () => {
    const { pods, clock, asked, told, ready } = new Asked();
    pods.set(shop, [pod(1), pod(2)]);
    const end = pods.want(shop);
    await clock.advance(2 * askMs);
    expect([asked.length, told]).toEqual([6, []]);
    ready.add('192.0.2.2');
    await clock.advance(askMs);
    expect(told).toEqual([[shop, ['192.0.2.2']]]);
    end();
  });

  test('are asked once for all who wait, and not anymore when the last one has gone', async () => {
    const { pods, clock, asked } = new Asked();
    pods.set(shop, [pod(1)]);
    const ends = Array.from({ length: 100 }, () => pods.want(shop));
    await clock.advance(askMs);
    expect(asked).toHaveLength(2);
    for (const end of [...ends.slice(1), ...ends.slice(1)]) end();
    await clock.advance(askMs);
    expect(asked).toHaveLength(3);
    ends[0]?.();
    await clock.advance(10 * askMs);
    expect([asked.length, pods.size, clock.pending]).toEqual([3, 0, 0]);
  });

  test('that appear while somebody waits are asked, and those of others are not', async () => {
    const { pods, clock, asked } = new Asked();
    pods.set('tenants/other', [pod(9)]);
    pods.want(shop);
    await clock.advance(askMs);
    expect(asked).toEqual([]);
    pods.set(shop, [pod(1)]);
    await clock.advance(askMs);
    pods.set(shop, []);
    await clock.advance(5 * askMs);
    expect(asked).toEqual(['192.0.2.1']);
  });

  test('are asked for who comes after the last one has gone', async () => {
    const { pods, clock, asked } = new Asked();
    pods.set(shop, [pod(1)]);
    pods.want(shop)();
    pods.want(shop);
    await clock.advance(0);
    expect([asked.length, pods.size]).toEqual([2, 1]);
  });

  test('are a few of a tenant, however many it says it has', async () => {
    const { pods, clock, asked } = new Asked();
    pods.set(
      shop,
      Array.from({ length: 200 }, (_, index) => pod(index)),
    );
    pods.want(shop);
    await clock.advance(0);
    expect(asked).toHaveLength(4);
  });

  test('are not asked anymore when it is closed', async () => {
    const { pods, clock, asked } = new Asked();
    pods.set(shop, [pod(1)]);
    pods.want(shop);
    pods.close();
    await clock.advance(5 * askMs);
    expect([asked.length, clock.pending]).toEqual([1, 0]);
  });
});

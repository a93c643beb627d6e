import { expect, test } from '@jest/globals';

import { ObjectMemory } from '../runtime/cache/object-memory.ts';
import { silent } from '../runtime/observe/logger.ts';
import { FakeClock } from '../testing/fake/fake-clock.ts';
import type { ProbedServer, ProbeResult } from './probe.ts';
import { TenantProber } from './prober.ts';

const target = (name: string) => ({
  service: { server: `https://${name}.inside`, ca: '' },
  endpoint: { server: `https://${name}.outside`, ca: '' },
});

function setUp(probe?: (server: ProbedServer) => Promise<ProbeResult>, random = 0.5) {
  const clock = new FakeClock();
  const memory = new ObjectMemory();
  const asked: string[] = [];
  const prober = new TenantProber({
    ...{ clock, log: silent, memory, intervalMs: 10_000, random: () => random },
    probe: async (server) => {
      asked.push(server.server);
      return probe === undefined ? { isUp: true, seconds: 0.1 } : probe(server);
    },
  });
  return { clock, memory, prober, asked };
}

test('a tenant is probed on both ways at a time of its own, and then on one after the other, half as often', async () => {
  const { clock, prober, asked } = setUp();
  prober.watch('a', target('a'));
  await clock.advance(4999);
  expect(asked).toEqual([]);
  expect(prober.results('a').size).toBe(0);
  await clock.advance(1);
  expect(asked).toEqual(['https://a.inside', 'https://a.outside']);
  expect(prober.results('a').get('endpoint')).toEqual({ isUp: true, seconds: 0.1 });
  await clock.advance(22_499);
  expect(asked.length).toBe(2);
  await clock.advance(1);
  expect(asked.slice(2)).toEqual(['https://a.inside']);
  await clock.advance(22_500);
  expect(asked.slice(3)).toEqual(['https://a.outside']);
});

test('a tenant that answers is asked less than once a minute with the usual interval of 30 seconds', async () => {
  let random = 0;
  const clock = new FakeClock();
  let asked = 0;
  const prober = new TenantProber({
    ...{ clock, log: silent, memory: new ObjectMemory(), intervalMs: 30_000 },
    random: () => (random = (random + 0.37) % 1),
    probe: () => Promise.resolve({ isUp: true, seconds: (asked += 1) }),
  });
  prober.watch('a', target('a'));
  await clock.advance(60_000);
  asked = 0;
  for (let minute = 0; minute < 600; minute += 1) await clock.advance(60_000);
  expect(asked).toBeLessThan(600);
  expect(asked).toBeGreaterThan(450);
});

test('a tenant that failed once is probed on both ways at each interval, until it has answered for an hour', async () => {
  let isUp = true;
  const { clock, prober, asked } = setUp(({ server }) =>
    Promise.resolve({ isUp: isUp || server.endsWith('outside'), seconds: 0.1 }),
  );
  prober.watch('a', target('a'));
  await clock.advance(5000);
  isUp = false;
  await clock.advance(22_500);
  expect(asked.slice(2)).toEqual(['https://a.inside']);
  isUp = true;
  await clock.advance(10_000);
  expect(asked.slice(3)).toEqual(['https://a.inside', 'https://a.outside']);
  const attentive = 358;
  for (let probes = 0; probes < attentive; probes += 1) await clock.advance(10_000);
  expect(asked.length).toBe(5 + 2 * attentive);
  await clock.advance(10_000);
  expect(asked.length).toBe(5 + 2 * attentive + 1);
  await clock.advance(22_499);
  expect(asked.length).toBe(5 + 2 * attentive + 1);
});

test('a tenant that may not answer is probed on both ways at once, but not twice within an interval', async () => {
  const { clock, prober, asked } = setUp();
  prober.watch('a', target('a'));
  prober.doubt('a');
  prober.doubt('unknown');
  await clock.advance(5000);
  expect(asked.length).toBe(2);
  prober.doubt('a');
  prober.doubt('a');
  await clock.advance(9999);
  expect(asked.length).toBe(2);
  await clock.advance(1);
  expect(asked.slice(2)).toEqual(['https://a.inside', 'https://a.outside']);
  await clock.advance(15_000);
  prober.doubt('a');
  await clock.advance(0);
  expect(asked.length).toBe(6);
  await clock.advance(22_499);
  expect(asked.length).toBe(6);
});

test('a doubt during a probe leads to one more probe', async () => {
  let answer = Promise.withResolvers<ProbeResult>();
  const { clock, prober, asked } = setUp(() => answer.promise);
  const isUp = { isUp: true, seconds: 0.1 };
  prober.watch('a', target('a'));
  answer.resolve(isUp);
  await clock.advance(5000);
  answer = Promise.withResolvers<ProbeResult>();
  await clock.advance(22_500);
  expect(asked.length).toBe(3);
  prober.doubt('a');
  answer.resolve(isUp);
  await clock.advance(9999);
  expect(asked.length).toBe(3);
  await clock.advance(1);
  expect(asked.length).toBe(5);
  await clock.advance(22_499);
  expect(asked.length).toBe(5);
});

test('a new address is probed in place of the old one, and nothing more often', async () => {
  const { clock, prober, asked } = setUp();
  prober.watch('a', target('a'));
  prober.watch('a', target('b'));
  await clock.advance(5000);
  expect(asked).toEqual(['https://b.inside', 'https://b.outside']);
});

test('a way that fails does not hide the other', async () => {
  const { clock, prober } = setUp(({ server }) => Promise.resolve({ isUp: server.endsWith('inside'), seconds: 1 }));
  prober.watch('a', target('a'));
  await clock.advance(5000);
  expect([...prober.results('a')].map(([path, { isUp }]) => [path, isUp])).toEqual([
    ['service', true],
    ['endpoint', false],
  ]);
});

test('a tenant that is stopped or deleted is forgotten, also while it is probed', async () => {
  const { promise, resolve } = Promise.withResolvers<ProbeResult>();
  const { clock, memory, prober, asked } = setUp(() => promise);
  for (const uid of ['a', 'b', 'c']) prober.watch(uid, target(uid));
  prober.stop('a');
  await clock.advance(5000);
  expect(asked.length).toBe(4);
  memory.drop('b');
  prober.stop('c');
  resolve({ isUp: true, seconds: 1 });
  await clock.advance(60_000);
  expect(asked.length).toBe(4);
  expect(prober.results('b').size).toBe(0);
});

test('a thousand API servers that do not answer are not all probed at once, and none is left out', async () => {
  let running = 0;
  let most = 0;
  const { clock, prober, asked } = setUp(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => clock.after(2000, resolve));
    running -= 1;
    return { isUp: false, seconds: 2 };
  });
  for (let each = 0; each < 1000; each += 1) prober.watch(String(each), target(String(each)));
  for (let second = 0; second < 40; second += 1) await clock.advance(1000);
  expect(most).toBe(200);
  expect(new Set(asked).size).toBe(2000);
});

test('a probe that never ends is given up, and does not prevent others from being probed', async () => {
  const { clock, prober, asked } = setUp(({ server }) =>
    server.includes('good') ? Promise.resolve({ isUp: true, seconds: 0.1 }) : new Promise(() => undefined),
  );
  for (let each = 0; each < 100; each += 1) prober.watch(`bad${each}`, target(`bad${each}`));
  await clock.advance(5000);
  for (let each = 0; each < 100; each += 1) prober.stop(`bad${each}`);
  prober.watch('good', target('good'));
  for (let second = 0; second < 80; second += 1) await clock.advance(1000);
  expect(asked.filter((server) => server.includes('good')).length).toBeGreaterThan(4);
});

test('a probe that fails is a tenant that is not up', async () => {
  const { clock, prober } = setUp(() => Promise.reject(new Error('a defect')));
  prober.watch('a', target('a'));
  await clock.advance(5000);
  expect(prober.results('a').get('service')?.isUp).toBe(false);
  await clock.advance(10_000);
  expect(prober.results('a').get('service')?.isUp).toBe(false);
});

test('nothing is probed anymore after the end', async () => {
  const { clock, prober, asked } = setUp();
  prober.watch('a', target('a'));
  prober.close();
  await clock.advance(60_000);
  expect(asked).toEqual([]);
});

import { describe, expect, test } from '@jest/globals';

import { clientOf } from './client-of.ts';
import { breaksPromise, wakePresentation } from './wake-report.ts';
import { clientNames, endpointTypes } from './wake-rows.ts';
import type { CallersRow, FirstRow, HostileRow, PodMemory, SleepingRow, WakeRow } from './wake-rows.ts';

const held = (pssMiB: number): PodMemory => ({ pssMiB, ownMiB: pssMiB - 10 });

const first = (changes: Partial<FirstRow> = {}): FirstRow => ({
  ...{ stage: 'first', endpoint: 'NodePort', client: 'curl', round: 1, answeredMs: 4400, wakes: 1 },
  ...{ byHandMs: 4000, busyBefore: [0.1, 0.1] },
  ...changes,
});

const callers = (changes: Partial<CallersRow> = {}): CallersRow => ({
  ...{ stage: 'callers', round: 1, callers: 3, answeredMs: [4000, 4100, 5200], failures: [], wakes: 1 },
  ...changes,
});

const sleeping = (changes: Partial<SleepingRow> = {}): SleepingRow => ({
  ...{ stage: 'sleeping', state: 'asleep', tenants: 50, seconds: 30, pods: 0 },
  ...{ podsPssMiB: 0, podsAnonymousMiB: 0, podsMilliCpu: 0, awoken: 0 },
  manager: { rssMiB: 90, anonymousMiB: 50, milliCpu: 3.21, requestsPerSecond: 0.5 },
  activatorMiB: { one: held(36), other: held(41) },
  ...changes,
});

const awake = sleeping({
  ...{ state: 'awake', tenants: 40, pods: 40, podsAnonymousMiB: 10_000, podsPssMiB: 16_000, podsMilliCpu: 1600 },
});

const hostile = (changes: Partial<HostileRow> = {}): HostileRow => ({
  ...{ stage: 'hostile', tenants: 4, hellos: { garbage: 5, slow: 5 }, seconds: 60 },
  ...{ refused: 0, answered: 0, unclosed: 0, outcomes: { NotTls: 5, Slow: 5, Passed: 0 } },
  ...{ awoken: 0, requests: 0, restarts: 0, passed: 1, cpuPercent: 12 },
  activatorMiB: { before: { one: held(36) }, peak: { one: held(70) }, after: { one: held(40) } },
  neighbor: { alone: { callsMs: [3, 4, 5], failed: [] }, beside: { callsMs: [3, 5, 9], failed: [] } },
  ...changes,
});

const linesOf = (rows: readonly WakeRow[]): readonly string[] =>
  wakePresentation
    .report(rows)
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '));

describe('The report of sleep and wake', () => {
  test('shows first answers by endpoint and by client, beside a start by hand', () => {
    const rows = [first(), first({ client: 'kubectl', answeredMs: 5000, round: 2 }), first({ endpoint: 'Gateway' })];
    const lines = linesOf(rows);
    expect(lines).toContain('| first answer through NodePort, median, times a start by hand | 1.18 | ≤ 1.3 | yes |');
    expect(lines).toContain('| through NodePort | 4.7 (4.4 to 5.0) | 4.0 (4.0 to 4.0) | 1.18 | 2 |');
    expect(lines).toContain('| to curl | 4.4 (4.4 to 4.4) | 4.0 (4.0 to 4.0) | 1.10 | 2 |');
    expect(lines.join('\n')).not.toContain('Ingress');
  });

  test('shows what a failed call said, and no time for it', () => {
    const lines = linesOf([
      first(),
      first({ answeredMs: undefined, failure: 'exited with code 7', wakes: 0, round: 2 }),
    ]);
    expect(lines).toContain('- curl through NodePort, round 2: exited with code 7');
    expect(lines).toContain('| first calls that were not answered | 1 | 0 | no |');
    expect(lines).toContain('| wakes for one first call | 1 | 1 | yes |');
  });

  test('shows when the first, half and the last of many callers were answered', () => {
    const text = linesOf([callers(), callers({ round: 2, answeredMs: [1000], failures: ['timeout', 'reset'] })]);
    expect(text).toContain(
      '3 callers at once, round 1: the first answer after 4.0 s, half of them after 4.1 s, the last after 5.2 s; woken up 1 time.',
    );
    expect(text.join('\n')).toContain('2 without an answer, the first: timeout.');
  });

  test('shows what sleep saves', () => {
    const lines = linesOf([awake, sleeping()]);
    expect(lines).toContain('| 50 asleep | 0 | 0 | 0 | 0 | 90 | 50 | 3.2 | 0.50 | 41 | 31 |');
    expect(lines).toContain('Sleep saves 250 MiB of memory and 40 thousandths of a core for each tenant.');
    expect(lines).toContain('| memory of an activator beside 50 sleeping tenants, MiB | 41 | ≤ 60 | yes |');
  });

  test('shows what hostile hellos did, to the activator and to a neighbor', () => {
    const text = linesOf([hostile()]);
    expect(text.join('\n')).toContain('5 garbage, 5 slow; 0 connections were refused');
    expect(text.join('\n')).toContain('The activator counted 5 NotTls, 5 Slow.');
    expect(text.join('\n')).toContain(
      '36 MiB (26 of its own) before, 70 MiB (60 of its own) at most, 40 MiB (30 of its own) after a rest',
    );
    expect(text).toContain('| beside the hellos | 5 | 9 | 9 | 3 | 0 |');
  });

  test('sums up first answers, many callers, and memory', () => {
    const headlines = wakePresentation.headlines?.([first(), callers(), awake, sleeping()]) ?? [];
    expect(headlines.map(({ value, floor, times }) => [value, floor, times])).toEqual([
      ['4.4 (4.4)', '4.0 (4.0)', '1.10'],
      ['5.2', undefined, undefined],
      ['250', undefined, undefined],
    ]);
    expect(wakePresentation.headlines?.([hostile()])).toEqual([]);
  });
});

describe('A promise', () => {
  test('holds, also when times are longer than they should be, and activators held more for a moment', () => {
    expect(breaksPromise([first({ answeredMs: 9000 }), callers(), awake, sleeping(), hostile()])).toBe(false);
  });

  test.each<[string, WakeRow]>([
    ['a first call is not answered', first({ answeredMs: undefined, failure: 'no' })],
    ['a first call wakes twice', first({ wakes: 2 })],
    ['a caller of many is not answered', callers({ failures: ['no'] })],
    ['many callers wake twice', callers({ wakes: 2 })],
    ['a sleeping tenant has pods', sleeping({ pods: 1 })],
    ['a tenant wakes up at rest', sleeping({ awoken: 1 })],
    ['one activator holds too much', sleeping({ activatorMiB: { one: held(40), other: held(61) } })],
    ['a hostile hello wakes', hostile({ awoken: 1 })],
    ['a hostile hello has a wake requested', hostile({ requests: 1 })],
    ['a hostile hello is answered', hostile({ answered: 1 })],
    ['a hostile hello does not reach the activator', hostile({ refused: 1 })],
    ['a hostile hello has its connection left open', hostile({ unclosed: 1 })],
    ['an activator ends', hostile({ restarts: 1 })],
    [
      'an activator holds too much afterwards',
      hostile({ activatorMiB: { before: {}, peak: {}, after: { one: held(61) } } }),
    ],
    [
      'a call of the neighbor fails',
      hostile({ neighbor: { alone: { callsMs: [1], failed: [] }, beside: { callsMs: [1], failed: ['reset'] } } }),
    ],
  ])('is broken if %s', (_name, row) => {
    expect(breaksPromise([row])).toBe(true);
  });

  test('is broken by nothing that was measured', () => {
    expect(breaksPromise([])).toBe(true);
  });
});

test('In three rounds each client calls through each endpoint, and each client calls in each round', () => {
  for (const endpoint of endpointTypes)
    expect(new Set([0, 1, 2].map((round) => clientOf(endpoint, round)))).toEqual(new Set(clientNames));
  for (const round of [0, 1, 2])
    expect(new Set(endpointTypes.map((endpoint) => clientOf(endpoint, round)))).toEqual(new Set(clientNames));
});

import { describe, expect, test } from '@jest/globals';

import { footprintPresentation } from '../footprint/footprint-report.ts';
import { footprintBetween } from '../footprint/footprint-between.ts';
import { metricSamples } from '../footprint/metric-samples.ts';
import { readyPresentation } from '../ready/ready-report.ts';
import { readyRows } from '../ready/ready-rows.ts';
import type { ReadySeries } from '../ready/ready.ts';

const series = (contender: string, readyz: readonly number[]): ReadySeries => ({
  contender,
  ready: 'all replicas ready',
  replicas: 1,
  busyBefore: [],
  timelines: readyz.map((ms) => ({ 'Service answers /readyz': ms, 'all replicas ready': ms + 100 })),
});

describe('The report of readiness', () => {
  const report = readyPresentation.report(
    readyRows([series('ours', [5000, 6000, 7000]), series('floor', [5000, 4800, 5600])]),
  );

  test('names both ends of each interval with p50 and max, and the ratio to each floor', () => {
    expect(report).toContain('1 replica, 3 rounds');
    const lines = report.split('\n').map((line) => line.replaceAll(/\s+/g, ' '));
    expect(lines).toContain('| first `/readyz` through the Service | ours | 5.00 | 6.00 | 7.00 | | |');
    expect(lines).toContain('| first `/readyz` through the Service | floor | 4.80 | 5.00 | 5.60 | 1.20 | 1.25 |');
    expect(lines).toContain(
      '| Ready, add-ons and objects inside the tenant included | floor | 4.90 | 5.10 | 5.70 | 1.20 | 1.25 |',
    );
  });

  test('of an old result without samples has both ends only', () => {
    const old = readyPresentation.report([
      { contender: 'ours', replicas: 2, rounds: 5, readyMs: { p50: 5980, max: 6230 } },
    ]);
    expect(old).toContain('2 replicas, 5 rounds');
    expect(old.replaceAll(/ +/g, ' ')).toContain('included | ours | | 5.98 | 6.23 | | |');
    expect(old).not.toContain('The way there');
    expect(old).not.toContain('readyz');
  });

  test('leaves out intervals that were not measured', () => {
    expect(report).toMatch(/\| status Ready +\| +\| +\|/);
  });
});

describe('The footprint', () => {
  const look = { at: 0, rssMiB: 80, anonymousMiB: 40, cpuSeconds: 1, requests: { a: 10, b: 5 } };
  const created = { ...look, cpuSeconds: 3 };
  const from = { ...created, at: 100_000 };
  const to = { at: 160_000, rssMiB: 90, anonymousMiB: 45, cpuSeconds: 3.6, requests: { a: 40, b: 35 } };

  test('is the memory at the end, and CPU and requests per second while the tenants were idle', () => {
    const found = footprintBetween({ tenants: [0, 4], atStart: look, created, rested: [from, to] });
    expect(found).toMatchObject({ tenants: 4, rssMiB: 90, anonymousMiB: 45, requestsPerSecond: 1 });
    expect(found.milliCpu).toBeCloseTo(10);
    expect(found.creationCpuSeconds).toBe(0.5);
  });

  test('leaves out requests that were not counted, and tenants that did not become ready', () => {
    const rested = [from, { ...to, requests: {} }] as const;
    const found = footprintBetween({ tenants: [4, 4], atStart: look, created: look, rested });
    expect(found).toMatchObject({ requestsPerSecond: undefined, creationCpuSeconds: undefined });
  });

  test('is reported with what one more tenant costs', () => {
    const at = (tenants: number) => ({
      tenants,
      rssMiB: 80 + tenants,
      anonymousMiB: 40 + tenants / 2,
      milliCpu: 2,
      requestsPerSecond: undefined,
      creationCpuSeconds: 0.5,
    });
    const last = footprintPresentation
      .report([at(0), at(4), at(8)])
      .split('\n')
      .at(-1);
    expect(last?.replaceAll(/\s+/g, ' ')).toBe('| one more | 1.00 | 0.50 | 0.000 | | |');
  });
});

describe('The usage of the manager', () => {
  test('is read from samples of exactly the wanted metric', () => {
    const text = '# TYPE x counter\nx{host="a:6443",code="200"} 3\nx{host="b"} 4 1700000000\nx_total 9\nx 1e2\n';
    expect(metricSamples(text, 'x')).toEqual([
      { labels: { host: 'a:6443', code: '200' }, value: 3 },
      { labels: { host: 'b' }, value: 4 },
      { labels: {}, value: 100 },
    ]);
  });
});

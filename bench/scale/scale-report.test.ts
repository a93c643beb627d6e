import { describe, expect, test } from '@jest/globals';

import { reachesOf, verdictOf } from './reaches.ts';
import type { Reach } from './reaches.ts';
import { breaksPromise, scaleLine, scalePresentation } from './scale-report.ts';
import { requestsBetween } from './scale-rows.ts';
import type { DeleteRow, RestartRow, RestRow, ScaleRow, ThroughputRow } from './scale-rows.ts';

const lag = { lagP99Ms: 5, lagMaxMs: 80 };

const rest = (tenants: number, rssMiB: number, managementRequests: number): RestRow => ({
  ...{ stage: 'rest', tenants, idleSeconds: 60, rssMiB, heapMiB: 50, cpuPercent: 3, seconds: 60, ...lag },
  managementRequests: { GET: managementRequests },
  tenantRequests: { call: 0, line: tenants / 2, probe: tenants * 4 },
  connections: tenants === 0 ? {} : { 1: tenants - 1, 2: 1 },
});

const throughput: ThroughputRow = {
  ...{ stage: 'throughput', tenants: 4, readyMs: [1000, 2000, 3000, 6000], cpuSeconds: 0.4, ...lag, lagP99Ms: 35 },
  managementRequests: { APPLY: 60, GET: 40 },
  tenantRequests: { call: 80, line: 20, probe: 1000 },
};

const deletion: DeleteRow = {
  ...{ stage: 'delete', tenants: 200, goneMs: 12_000, collectedMs: 20_000, rssMiB: [200, 150], ...lag },
  left: { keys: 0, users: 0, roles: 0, objects: 0 },
};

const restart: RestartRow = {
  ...{ stage: 'restart', tenants: 200, lookedAtMs: 9000, answeredMs: [300, 400, 2500], writes: {}, ...lag },
};

const valueOf = (rows: readonly ScaleRow[], figure: string): number | undefined =>
  reachesOf(rows).find((reach) => reach.figure.startsWith(figure))?.value;

describe('A reach', () => {
  const reach: Reach = { figure: 'x', value: 5, digits: 0, bound: 5, tenants: 1000, needed: 1000 };

  test('is met at its bound, at most or at least', () => {
    expect(verdictOf(reach)).toBe('yes');
    expect(verdictOf({ ...reach, value: 5.1 })).toBe('no');
    expect(verdictOf({ ...reach, isLeast: true })).toBe('yes');
    expect(verdictOf({ ...reach, isLeast: true, value: 4.9 })).toBe('no');
  });

  test('is not met by fewer tenants than it has to hold for, but can be missed by them', () => {
    expect(verdictOf({ ...reach, tenants: 300 })).toBe('so far');
    expect(verdictOf({ ...reach, tenants: 300, value: 6 })).toBe('no');
  });
});

describe('The figures of a manager with many tenants', () => {
  const rows = [rest(0, 100, 60), rest(200, 160, 80)];

  test('count memory and requests at rest against a manager without tenants', () => {
    expect(valueOf(rows, 'memory of the manager for each tenant')).toBeCloseTo(0.3);
    expect(valueOf(rows, 'requests at rest to the management API')).toBeCloseTo(0.1);
    expect(valueOf(rows, "requests at rest to a tenant's API server")).toBeCloseTo(4.5);
    expect(valueOf(rows, 'connections')).toBe(2);
  });

  test('leave out what was not measured', () => {
    expect(reachesOf([rest(0, 100, 60)]).map(({ figure }) => figure)).toEqual([
      'event loop: 99th percentile of the lag, ms, the worst stage (rest)',
    ]);
    expect(reachesOf([])).toEqual([]);
    expect(valueOf(rows.slice(1), 'memory of the manager for each tenant')).toBeUndefined();
  });

  test('divide the cost of creation by the tenants, without probes', () => {
    expect(valueOf([throughput], 'created at once')).toBeCloseTo(40);
    expect(valueOf([throughput], 'CPU of the manager for each created tenant')).toBeCloseTo(100);
    expect(valueOf([throughput], 'management requests for each created tenant')).toBe(25);
    expect(valueOf([throughput], "requests to each created tenant's API server")).toBe(25);
    expect(valueOf([throughput], 'order')).toBeCloseTo(2500 / 6000);
  });

  test('take the slowest person, the last deletion and the worst stage of the event loop', () => {
    const all = [restart, deletion, throughput];
    expect(valueOf(all, "a person's change meanwhile")).toBe(2.5);
    expect(valueOf(all, 'deleted at once')).toBeCloseTo(1000);
    expect(reachesOf(all).at(-1)).toMatchObject({ value: 35, figure: expect.stringContaining('throughput') });
  });

  test('divide reconciles after an event by the tenants that it concerns', () => {
    const event = { event: 'a node dies', concerned: 50, reconciles: 100, managementRequests: 3, ...lag };
    expect(valueOf([{ stage: 'events', tenants: 300, ...event }], 'reconciles for each concerned tenant')).toBe(2);
  });

  test('compare one more among rolling tenants with one alone by medians', () => {
    const row = { aloneMs: [100, 200, 900], amongMs: [300, 500, 400], rolledMs: [5000], ...lag };
    expect(valueOf([{ stage: 'onemore', tenants: 300, ...row }], 'one created while all others roll')).toBe(2);
  });
});

describe('The report', () => {
  const rows = [rest(0, 100, 60), rest(200, 160, 80), deletion, throughput, restart];
  const report = scalePresentation.report(rows);
  const lines = report.split('\n').map((line) => line.replaceAll(/\s+/g, ' '));

  test('has each figure with its reach and whether it is met', () => {
    expect(lines).toContain('| created at once, Ready a minute | 4 | 40 | ≥ 1000 | no |');
    expect(lines).toContain('| left of deleted tenants: keys, users, roles, objects | 200 | 0 | 0 | so far |');
  });

  test('says whether one manager was measured or several that share the tenants', () => {
    expect(report).toContain('One manager with many tenants');
    const shared = scalePresentation.report(rows.map((row) => ({ ...row, managers: 3 })));
    expect(shared).toContain('3 managers that share them (`--shards`) with many tenants');
  });

  test('has a row for each number of tenants at rest, and a line for each other stage', () => {
    expect(lines).toContain('| 0 | 100 | 50 | 3.0 | 60 | | | | | | 5 |');
    expect(lines).toContain('| 200 | 160 | 50 | 3.0 | 80 | 0.00 | 0.50 | 4.00 | 1 | 2 | 5 |');
    expect(report).toContain(`${scaleLine(deletion)}.`);
    expect(scaleLine(deletion)).toContain('left: none; RSS 200 MiB before and 150 MiB after');
  });

  test('compares tenants of the stand-in with real ones by medians, apart from the reaches', () => {
    const cost = (cpuMs: number) => ({
      ...{ readyMs: 900, cpuMs, managementRequests: { GET: 20 }, tenantCalls: { APPLY: 10, GET: 5 } },
    });
    const row = { standIn: [cost(100), cost(90), cost(300)], real: [cost(110)], ...lag, lagP99Ms: 99 };
    const compared: ScaleRow = { stage: 'standin', tenants: 3, ...row };
    expect(scaleLine(compared)).toContain('CPU 100 ms, 20 management requests, 15 calls');
    expect(reachesOf([compared])).toEqual([]);
  });

  test('fails a check when something is left, or a started manager wrote for nothing', () => {
    expect(breaksPromise(rows)).toBe(false);
    expect(breaksPromise([{ ...deletion, left: { ...deletion.left, users: 1 } }])).toBe(true);
    const uneven = { ...deletion, left: { keys: -1, users: 1, roles: 0, objects: 0 } };
    expect(breaksPromise([uneven])).toBe(true);
    expect(reachesOf([uneven]).find(({ figure }) => figure.startsWith('left of'))?.value).toBe(2);
    expect(breaksPromise([{ ...restart, writes: { 'APPLY secrets': 2 } }])).toBe(true);
  });
});

test('Requests between two scrapes include those of verbs that the first one did not have', () => {
  expect(requestsBetween({ GET: 2 }, { GET: 5, APPLY: 1 })).toEqual({ GET: 3, APPLY: 1 });
});

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { isDisturbed } from '../../bench/day/day-rows.ts';
import type { DayRow } from '../../bench/day/day-rows.ts';
import { usualDay } from '../../bench/day/day-trace.ts';
import { isBeyondBounds } from '../../bench/restore/restore-report.ts';
import type { RestoreRow } from '../../bench/restore/restore-rows.ts';
import { absentTests } from './named-tests.ts';
import { promisesPage } from './promises-page.ts';
import type { PromiseGroup, StewardPromise } from './promises-page.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const groups = parse(read('testing/repository/promises.yaml')) as readonly PromiseGroup[];
const promises = groups.flatMap((group) => group.promises);
const sentences = (wrong: (promise: StewardPromise) => boolean): readonly string[] =>
  promises.filter(wrong).map(({ promise }) => promise);

describe('The promises of Steward', () => {
  test('are one sentence each, and each is there once', () => {
    expect(sentences(({ promise }) => !/^[^.]+(\.\S[^.]*)*\.$/.test(promise))).toEqual([]);
    expect(new Set(promises.map(({ promise }) => promise)).size).toBe(promises.length);
  });

  test('have one of three verdicts', () => {
    expect(new Set(promises.map(({ verdict }) => verdict))).toEqual(new Set(['shown', 'in part', 'not shown']));
  });

  test('that are shown have a test, and nothing is missing', () => {
    const shown = promises.filter(({ verdict }) => verdict === 'shown');
    expect(shown.filter(({ tests = [], missing }) => tests.length === 0 || missing !== undefined)).toEqual([]);
  });

  test('that are shown in part name what shows a part, and say what is missing', () => {
    const partly = promises.filter(({ verdict }) => verdict === 'in part');
    const empty = ({ tests = [], files = [], missing = '' }: StewardPromise): boolean =>
      tests.length + files.length === 0 || missing === '';
    expect(partly.filter(empty)).toEqual([]);
  });

  test('that are not shown have a reason, and no test', () => {
    const open = promises.filter(({ verdict }) => verdict === 'not shown');
    const wrong = ({ tests = [], files = [], missing = '' }: StewardPromise): boolean =>
      tests.length + files.length > 0 || missing === '';
    expect(open.filter(wrong)).toEqual([]);
  });

  test('name only tests that exist', () => {
    expect(absentTests(promises.flatMap(({ tests = [] }) => tests))).toEqual([]);
  });

  test('name only files that exist', () => {
    const named = promises.flatMap(({ files = [] }) => files);
    const linked = promises.flatMap(({ missing = '' }) =>
      [...missing.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => join('docs/reference', path)),
    );
    expect([...named, ...linked].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });

  test('name the number of passed conformance tests that their page has', () => {
    const [, all = '', passed = ''] = /^\| all \| (\d+) \| (\d+) \|/m.exec(read('docs/reference/conformance.md')) ?? [];
    const told = promises.filter(({ missing = '' }) => missing.includes('conformance tests'));
    expect(told).not.toEqual([]);
    expect(told.filter(({ missing = '' }) => !missing.includes(`${passed} of the ${all} conformance tests`))).toEqual(
      [],
    );
  });
});

describe('The page of promises', () => {
  test('counts its own rows', () => {
    const page = read('docs/reference/promises.md');
    const rows = (verdict: string): number =>
      page.split('\n').filter((line) => line.includes(`. | ${verdict} | `)).length;
    const [shown, partly, open] = [rows('shown'), rows('in part'), rows('not shown')];
    expect(page).toContain(
      `\n${shown + partly + open} promises: ${shown} shown, ${partly} in part, ${open} not shown.\n`,
    );
    expect(shown + partly + open).toBe(promises.length);
  });

  test('links to tests and files, and says what is missing', () => {
    const page = promisesPage([
      {
        group: 'Some',
        promises: [
          { promise: 'One | two.', verdict: 'shown', tests: [{ file: 'a/b.test.ts', title: 'shows | %s' }] },
          { promise: 'Three.', verdict: 'in part', files: ['a/b.json'], missing: 'Four.' },
        ],
      },
    ]);
    expect(page).toContain('2 promises: 1 shown, 1 in part, 0 not shown.');
    expect(page).toContain('## Some');
    expect(page).toContain('| One \\| two. | shown | [shows \\| …](../../a/b.test.ts) |  |');
    expect(page).toContain('| Three. | in part | [a/b.json](../../a/b.json) | Four. |');
  });
});

test('A control plane is Ready within 16 seconds in the committed figures', () => {
  const { rows } = JSON.parse(read('bench/results/ready.json')) as {
    readonly rows: readonly { readonly contender: string; readonly readyMs: { readonly max: number } }[];
  };
  const slowest = rows.filter(({ contender }) => contender === 'Steward').map(({ readyMs }) => readyMs.max);
  expect(slowest.length).toBeGreaterThan(0);
  expect(Math.max(...slowest)).toBeLessThan(16_000);
});

test('Half of the new versions are rolled out within 10 seconds in the committed figures', () => {
  const { rows } = JSON.parse(read('bench/results/upgrade.json')) as {
    readonly rows: readonly { readonly rolloutMs: number }[];
  };
  expect(rows.length).toBeGreaterThan(0);
  const ascending = rows.map(({ rolloutMs }) => rolloutMs).toSorted((a, b) => a - b);
  expect(ascending[Math.floor(ascending.length / 2)]).toBeLessThan(10_000);
});

test('No new connection leads back to the previous version, and no call fails, in the committed figures', () => {
  const { rows } = JSON.parse(read('bench/results/upgrade.json')) as {
    readonly rows: readonly { readonly newcomersAnsweredByOld: number; readonly failed: readonly string[] }[];
  };
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.filter(({ newcomersAnsweredByOld, failed }) => newcomersAnsweredByOld + failed.length > 0)).toEqual([]);
});

test('Forty control planes run on one machine of two cores in the committed figures', () => {
  const { machine, rows } = JSON.parse(read('bench/results/burst.json')) as {
    readonly machine: { readonly cores: number };
    readonly rows: readonly {
      readonly contender: string;
      readonly tenants: number;
      readonly readyMs: readonly number[];
    }[];
  };
  expect(machine.cores).toBe(2);
  const runs = rows.filter(({ contender, tenants }) => contender === 'Steward' && tenants === 40);
  expect(runs.length).toBeGreaterThan(0);
  for (const { readyMs, tenants } of runs) expect(readyMs).toHaveLength(tenants);
});

test('The pods of a control plane become more under load and fewer without it, and no call fails, in the committed figures', () => {
  const { rows } = JSON.parse(read('bench/results/autoscaling.json')) as {
    readonly rows: readonly {
      readonly callsPerSecond: number;
      readonly failed: readonly string[];
      readonly lost: readonly string[];
      readonly podsBefore: number;
      readonly podsAfter: number;
    }[];
  };
  expect(rows.map(({ callsPerSecond }) => callsPerSecond)).toEqual([10, 300, 10]);
  const [quiet, peak, afterwards] = rows;
  expect(quiet?.podsAfter).toBe(quiet?.podsBefore);
  expect(peak?.podsAfter).toBeGreaterThan(peak?.podsBefore ?? Infinity);
  expect(afterwards?.podsAfter).toBeLessThan(afterwards?.podsBefore ?? 0);
  expect(rows.flatMap(({ failed, lost }) => [...failed, ...lost])).toEqual([]);
});

test('Control planes that nobody uses sleep, and each first call wakes one up, in the committed figures of a day', () => {
  const { rows } = JSON.parse(read('bench/results/day.json')) as { readonly rows: readonly DayRow[] };
  expect(rows.map(({ tenant }) => tenant)).toEqual(usualDay.map(({ tenant }) => tenant));
  expect(rows.filter(isDisturbed)).toEqual([]);
  const asleep = rows.reduce((sum, { hoursAsleep }) => sum + hoursAsleep, 0);
  expect(asleep).toBeGreaterThan(rows.reduce((sum, { hours }) => sum + hours, 0) / 2);
});

test('Highly available control planes need less memory and CPU than on machines of their own in the committed figures', () => {
  const { rows } = JSON.parse(read('bench/results/hardware.json')) as {
    readonly rows: readonly {
      readonly way: string;
      readonly availability: string;
      readonly pssMiB: number;
      readonly milliCpu: number;
    }[];
  };
  const sum = (way: string, value: 'pssMiB' | 'milliCpu'): number =>
    rows
      .filter((row) => row.way === way && row.availability === 'available')
      .reduce((total, row) => total + row[value], 0);
  for (const value of ['pssMiB', 'milliCpu'] as const) {
    expect(sum('Steward', value)).toBeGreaterThan(0);
    expect(sum('Steward', value)).toBeLessThan(sum('kubeadm', value));
  }
});

test('The neighbor of a hostile tenant is answered within a second, and a quota denies within ten, in the committed figures', () => {
  const { rows } = JSON.parse(read('bench/results/flood.json')) as {
    readonly rows: readonly {
      readonly store: string;
      readonly attack: string;
      readonly writesMs: readonly number[];
      readonly readsMs: readonly number[];
      readonly failed: readonly string[];
      readonly hostile?: { readonly quota?: { readonly deniedAfterMs?: number; readonly undeleted: number } };
    }[];
  };
  const attacked = rows.filter(({ attack }) => attack !== 'alone');
  expect([...new Set(attacked.map(({ store }) => store))]).toEqual(
    expect.arrayContaining(['etcd', 'postgres', 'mysql', 'nats']),
  );
  expect(attacked.flatMap(({ failed }) => failed)).toEqual([]);
  for (const { writesMs, readsMs, hostile } of attacked) {
    for (const all of [writesMs, readsMs]) {
      expect(all.length).toBeGreaterThan(300);
      expect(all.filter((ms) => ms >= 1000).length).toBeLessThan(all.length / 100);
    }
    if (hostile?.quota === undefined) continue;
    expect(hostile.quota.deniedAfterMs ?? Infinity).toBeLessThanOrEqual(10_000);
    expect(hostile.quota.undeleted).toBe(0);
  }
});

test('A destroyed tenant is restored without a loss older than ten seconds, at 15 s per 100 MB, in the committed figures', () => {
  const { rows } = JSON.parse(read('bench/results/restore.json')) as { readonly rows: readonly RestoreRow[] };
  expect(rows.map(({ store }) => store)).toEqual(['etcd', 'postgres', 'mysql', 'nats']);
  for (const row of rows) {
    expect(row.objects).toBeGreaterThanOrEqual(10_000);
    expect(row.history.perSecond).toBeGreaterThanOrEqual(100);
    expect([row.store, isBeyondBounds(row)]).toEqual([row.store, false]);
  }
});

test('Everything is under Apache-2.0', () => {
  expect(read('LICENSE')).toMatch(/^\s*Apache License\s+Version 2\.0/);
  expect((JSON.parse(read('package.json')) as { readonly license: string }).license).toBe('Apache-2.0');
});

test('Pages explain each concept, and the list of pages links to them', () => {
  const list = read('docs/README.md');
  const pages = ['control-plane', 'choosing-a-datastore', 'worker-nodes', 'konnectivity'];
  expect(pages.filter((page) => !list.includes(`(explanation/${page}.md)`))).toEqual([]);
  const linked = [...list.matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) => path);
  expect(linked.filter((path) => !existsSync(join(root, 'docs', path)))).toEqual([]);
});

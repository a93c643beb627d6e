import { expect, test } from '@jest/globals';

import { dayPresentation } from './day-report.ts';
import type { DayRow } from './day-rows.ts';
import { isDisturbed, readLedger, savedBy } from './day-rows.ts';

const row = (changes: Partial<DayRow> = {}): DayRow => ({
  tenant: 'office',
  used: '09:00 to 17:00',
  hours: 24,
  hoursAsleep: 15.5,
  wakes: { byRequest: 1, bySchedule: 0, byPerson: 0 },
  wantedWakes: 1,
  firstMs: [5600],
  otherMs: [300, 400, 500],
  failed: [],
  late: [],
  pod: { memoryMiB: 512, cores: 0.1 },
  ...changes,
});

test('what a control plane has slept is what has ended, and what goes on', () => {
  const now = new Date('2030-01-02T00:00:00Z');
  const ended = { seconds: 7200, byRequest: 2 };
  const asleep = { state: 'Asleep', since: '2030-01-01T21:00:00Z', ended };
  expect(readLedger(asleep, now)).toEqual({ hoursAsleep: 5, wakes: { byRequest: 2, bySchedule: 0, byPerson: 0 } });
  expect(readLedger({ ...asleep, state: 'Awake' }, now).hoursAsleep).toBe(2);
  expect(readLedger({}, now).hoursAsleep).toBe(0);
});

test('sleep saves the hours of a pod, and its memory and processor time in them', () => {
  expect(savedBy(row())).toEqual({ podHours: 15.5, gibHours: 7.75, cpuHours: 1.55 });
});

test('the report has a line for each tenant and one for all', () => {
  const idle = row({
    tenant: 'idle',
    used: 'never',
    hoursAsleep: 23.9,
    wakes: { byRequest: 0, bySchedule: 0, byPerson: 0 },
    firstMs: [],
    otherMs: [],
  });
  const lines = dayPresentation
    .report([row(), idle])
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '));
  expect(lines).toContain(
    '| office | 09:00 to 17:00 | 8.5 | 15.5 | 1 | 0 | 5.6 | 5.6 | 0.4 | 4 | 0 | 15.5 | 7.8 | 1.55 |',
  );
  expect(lines).toContain('| idle | never | 0.1 | 23.9 | 0 | 0 | | | | 0 | 0 | 23.9 | 11.9 | 2.39 |');
  expect(lines).toContain('| all | | 8.6 | 39.4 | 1 | 0 | 5.6 | 5.6 | 0.4 | 4 | 0 | 39.4 | 19.7 | 3.94 |');
  expect(dayPresentation.headlines?.([row(), idle])).toMatchObject([{ value: '82' }, { value: '5.6' }]);
});

test('the report names calls that failed, and rests in which nobody fell asleep', () => {
  const text = dayPresentation.report([row({ failed: ['refused'], late: ['02:20'] })]);
  expect(text).toContain('office: refused');
  expect(text).toContain('office: it should have fallen asleep after 02:20');
});

test('a failed call, a wake without a call, and a control plane that slept late or never disturb a day', () => {
  expect(isDisturbed(row())).toBe(false);
  expect(isDisturbed(row({ failed: ['refused'] }))).toBe(true);
  expect(isDisturbed(row({ late: ['02:20'] }))).toBe(true);
  expect(isDisturbed(row({ wakes: { byRequest: 2, bySchedule: 0, byPerson: 0 } }))).toBe(true);
  expect(isDisturbed(row({ wakes: { byRequest: 0, bySchedule: 1, byPerson: 0 } }))).toBe(true);
  expect(isDisturbed(row({ hoursAsleep: 0 }))).toBe(true);
  expect(isDisturbed(row({ hours: 0.4 }))).toBe(true);
});

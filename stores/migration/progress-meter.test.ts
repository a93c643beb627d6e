import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import type { MigrationProgress } from './migration-progress.ts';
import { ProgressMeter } from './progress-meter.ts';

function setUp() {
  const clock = new FakeClock();
  const told: MigrationProgress[] = [];
  return { clock, told, meter: new ProgressMeter(clock, (progress) => told.push(progress)) };
}

describe('ProgressMeter', () => {
  test('reports a new phase at once, and its progress once a second', async () => {
    const { clock, told, meter } = setUp();
    meter.enter('Copying');
    meter.begin(1000);
    for (let tenth = 0; tenth < 30; tenth += 1) {
      await clock.advance(100);
      meter.passed(10);
      meter.wrote(10, 1000);
    }
    expect(told.map(({ phase }) => phase)).toEqual(['Copying', 'Copying', 'Copying', 'Copying']);
    expect(told.at(-1)).toEqual({
      phase: 'Copying',
      keys: 300,
      bytes: 30_000,
      keysPerSecond: 100,
      bytesPerSecond: 10_000,
      remainingKeys: 700,
    });
  });

  test('reports the rate of the last seconds, not of the whole run', async () => {
    const { clock, told, meter } = setUp();
    meter.enter('Following');
    for (let second = 0; second < 60; second += 1) {
      await clock.advance(1000);
      meter.wrote(second < 30 ? 1000 : 1, 0);
    }
    expect(told.at(-1)?.keysPerSecond).toBe(1);
  });

  test('reports a problem at once and clears it after a success', async () => {
    const { clock, told, meter } = setUp();
    meter.enter('Copying');
    meter.hindered('the target does not answer');
    expect(told.at(-1)?.problem).toBe('the target does not answer');
    await clock.advance(1000);
    meter.wrote(1, 1);
    expect(told.at(-1)?.problem).toBeUndefined();
  });

  test('reports how far the target is raised, until the next phase', () => {
    const { told, meter } = setUp();
    meter.raising(5n, 10n);
    expect(told.at(-1)?.raised).toEqual({ reached: '5', wanted: '10' });
    meter.enter('Copying');
    expect(told.at(-1)?.raised).toBeUndefined();
  });
});

import { describe, expect, test } from '@jest/globals';
import { everyCase, sampleOf } from './cases.ts';
import { faults } from './faults/faults.ts';
import type { MadeCall } from './world/product-call.ts';

const call = (to: MadeCall['to'], isWrite: boolean, process = 'manager'): MadeCall => ({
  ...{ to, isWrite, process },
  text: 'a call',
  isAside: false,
});

const names = (made: MadeCall): readonly string[] => everyCase([made], faults).map(({ fault }) => fault.name);

describe('The cases of an operation', () => {
  test('are all faults that can happen at each of its calls', () => {
    expect(names(call('management', true))).toEqual(faults.map(({ name }) => name));
    expect(names(call('datastore', false))).toEqual([
      ...['kill', 'lost-response', 'cut', 'timeout', 'error', 'two', 'clock-forward', 'clock-back'],
    ]);
    expect(names(call('management', true, 'migration'))).not.toContain('lease');
    expect(everyCase([call('tenant', true), call('tenant', false)], faults).at(-1)).toMatchObject({ call: 2 });
  });

  test('are sampled with each part of the whole, always in the same way for a seed', () => {
    const all = everyCase(
      Array.from({ length: 30 }, () => call('management', true)),
      faults,
    );
    const of = (seed: number) => sampleOf(all, faults.length, { seed, purpose: 'upgrade' });
    expect(of(5)).toEqual(of(5));
    expect(of(5)).not.toEqual(of(6));
    expect(of(5).map(({ fault }) => fault.name)).toEqual(faults.map(({ name }) => name));
    expect(sampleOf(all.slice(0, 3), 10, { seed: 1, purpose: 'upgrade' })).toEqual(all.slice(0, 3));
  });
});

import { describe, expect, test } from '@jest/globals';

import { batches } from './run-lanes.ts';

const tests = (sig: string, count: number): readonly { name: string; sig: string; serial: boolean }[] =>
  Array.from({ length: count }, (_, index) => ({ name: `[${sig}] ${index}`, sig, serial: false }));

describe('Batches', () => {
  test('contain tests of one group each, alternate between groups, and contain every test once', () => {
    const all = [...tests('sig-apps', 17), ...tests('sig-node', 9), ...tests('sig-cli', 1)];
    const found = batches(all);
    expect(found.map((batch) => `${batch[0]?.sig ?? ''} ${batch.length}`)).toEqual([
      'sig-apps 8',
      'sig-node 8',
      'sig-cli 1',
      'sig-apps 8',
      'sig-node 1',
      'sig-apps 1',
    ]);
    expect(
      found
        .flat()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(all.map(({ name }) => name).toSorted());
  });

  test('are none without tests', () => {
    expect(batches([])).toEqual([]);
  });
});

import { describe, expect, test } from '@jest/globals';

import { parseOptions } from './options.ts';

describe('The command line of the benchmarks', () => {
  test('measures both figures of a cluster with five pairs by default, and writes no result', () => {
    expect(parseOptions([])).toEqual({
      figures: ['ready', 'footprint'],
      pairs: 5,
      replicas: [1, 2],
      tenants: [0, 4, 8],
      idleSeconds: 60,
      does: ['refuse', 'cut', 'error', 'silent', 'hang', 'bare'],
      hostile: 100,
      innocent: 30,
      churn: [100, 1000, 10_000],
      check: false,
      note: undefined,
      json: undefined,
      record: false,
      keep: false,
      cluster: undefined,
      help: false,
    });
  });

  test('accepts single figures and lists of numbers, sorted and without duplicates', () => {
    const options = parseOptions(['footprint', '--tenants', '4,0,4', '--idle', '5']);
    expect(options).toMatchObject({ figures: ['footprint'], tenants: [0, 4], idleSeconds: 5 });
  });

  test('accepts single kinds of hostile endpoints', () => {
    expect(parseOptions(['hostile', '--does', 'hang,cut'])).toMatchObject({
      figures: ['hostile'],
      does: ['cut', 'hang'],
    });
  });

  test.each([
    [['speed'], /no figure speed; there are ready, footprint, upgrade, hostile, memory/],
    [['hostile', '--does', 'bite'], /--does bite: one or more of refuse, cut/],
    [['hostile', '--hostile', '0'], /--hostile 0: a whole number of at least 1/],
    [['--pairs', '0'], /--pairs 0: a whole number of at least 1/],
    [['--pairs', '1.5'], /--pairs 1.5: a whole number/],
    [['--replicas', '1,x'], /--replicas x: a whole number/],
    [['--tenants', '4'], /--tenants 4: two different numbers/],
  ])('refuses %j with the missing option', (args, message) => {
    expect(() => parseOptions(args)).toThrow(message);
  });
});

import { describe, expect, test } from '@jest/globals';
import { parseOptions } from './options.ts';

const known = { plays: ['create', 'upgrade'], faults: ['kill', 'cut'] };

describe('The options of a run', () => {
  test('choose what is repeated', () => {
    const args = ['--play', 'upgrade', '--fault', 'kill', '--call', '17', '--seed', '5'];
    expect(parseOptions(args, known)).toEqual({
      ...{ short: false, record: false, plays: ['upgrade'], faults: ['kill'] },
      ...{ call: 17, seed: 5 },
    });
  });

  test('are all operations and faults by default, with a seed that is printed', () => {
    const { seed, ...rest } = parseOptions([], known);
    expect(rest).toEqual({ short: false, record: false, plays: [], faults: [] });
    expect(seed).toBeGreaterThanOrEqual(0);
    expect(parseOptions(['--short', '--play', 'create', '--play', 'upgrade'], known)).toMatchObject({
      short: true,
      plays: ['create', 'upgrade'],
    });
  });

  test.each([
    [['--play', 'wait'], '--play takes one of create, upgrade, got "wait"'],
    [['--fault'], '--fault takes one of kill, cut, got ""'],
    [['--call', 'x'], '--call takes a whole number, got "x"'],
    [['create'], 'create is not known'],
    [['--short', '--record'], 'leave out --short'],
  ])('%j are refused', (args, message) => {
    expect(() => parseOptions(args, known)).toThrow(message);
  });
});

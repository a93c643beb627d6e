import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeFlags, readFlags, UsageError } from './flags.ts';
import { goDuration } from '../../api/go-duration.ts';

const flags = {
  name: { value: 'nobody', help: 'Who.' },
  count: { value: 2, help: 'How many.' },
  loud: { value: true, help: 'How loud.' },
} as const;

describe('Flags', () => {
  test('Flags that are not given have their defaults', () => {
    expect(readFlags(flags, [])).toEqual({ name: 'nobody', count: 2, loud: true });
  });

  test.each([
    [['--name=ada', '--count=3', '--loud=false'], { name: 'ada', count: 3, loud: false }],
    [['--name', 'ada', '--loud'], { name: 'ada', count: 2, loud: true }],
    [['--name='], { name: '', count: 2, loud: true }],
  ])('%j is parsed as in Go', (args, expected) => {
    expect(readFlags(flags, args)).toEqual(expected);
  });

  test.each([
    [['--color=red'], 'unknown flag --color'],
    [['--count=many'], '--count takes a whole number, got "many"'],
    [['--count='], '--count takes a whole number'],
    [['--loud=perhaps'], '--loud is a switch'],
    [['--name'], 'expecting a value for --name arg'],
    [['manager'], '"manager" is not a flag'],
  ])('%j is refused with the fix', (args, message) => {
    expect(() => readFlags(flags, args)).toThrow(UsageError);
    expect(() => readFlags(flags, args)).toThrow(message);
  });

  test('The help text lists every flag with its default', () => {
    expect(describeFlags(flags)).toContain('--count=2\n        How many.');
  });
});

describe('Durations', () => {
  test.each([
    ['0', 0],
    ['24h', 86_400_000],
    ['1m30s', 90_000],
    ['1.5s', 1500],
    ['500ms', 500],
  ])('%s is %d milliseconds', (text, ms) => {
    expect(goDuration(text)).toBe(ms);
  });

  test.each(['7d', '', 'h', '10', '-1s', '1h '])('"%s" is refused', (text) => {
    expect(() => goDuration(text)).toThrow('is not a duration');
  });

  test('Durations of whole seconds are printed and parsed without loss', () => {
    fc.assert(fc.property(fc.nat(1e9), (seconds) => goDuration(`${seconds}s`) === seconds * 1000));
  });
});

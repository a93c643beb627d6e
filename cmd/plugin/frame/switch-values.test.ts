import { Command } from 'commander';
import { expect, test } from '@jest/globals';
import { switchValues } from './switch-values.ts';

const program = new Command('p').addCommand(
  new Command('c').option('--wait', '', true).option('--no-wait').option('--use').option('--user <name>'),
);

test.each([
  [
    ['c', '--wait=true'],
    ['c', '--wait'],
  ],
  [
    ['c', '--wait=false'],
    ['c', '--no-wait'],
  ],
  [['c', '--use=false'], ['c']],
  [
    ['c', '--use=true'],
    ['c', '--use'],
  ],
  [
    ['c', '--user=true'],
    ['c', '--user=true'],
  ],
  [
    ['c', '--other=true'],
    ['c', '--other=true'],
  ],
  [
    ['c', '--', '--wait=false'],
    ['c', '--', '--wait=false'],
  ],
])('of %j the library gets %j', (given, expected) => {
  expect(switchValues(program, given)).toEqual(expected);
});

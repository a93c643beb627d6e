import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { argumentsFrom, strayVariables, variableOf } from './flag-variables.ts';
import { readFlags, UsageError } from './flags.ts';
import { managerFlags } from './manager-flags.ts';
import { readManagerSettings } from './manager-settings.ts';

const flags = {
  'who-asks': { value: 'nobody', help: 'Who.' },
  count: { value: 2, help: 'How many.' },
  loud: { value: true, help: 'How loud.' },
} as const;
const pod = { POD_NAMESPACE: 'steward-system' };

describe('The environment variable of a flag', () => {
  test('is its name in capitals, with the prefix of the program', () => {
    expect(variableOf('who-asks')).toBe('STEWARD_WHO_ASKS');
  });

  test('is another one for each flag of the manager', () => {
    const names = Object.keys(managerFlags);
    expect(new Set(names.map(variableOf)).size).toBe(names.length);
  });

  test('gives its value, and wins over the command line', () => {
    const environment = { STEWARD_WHO_ASKS: 'ada', STEWARD_COUNT: '7', STEWARD_LOUD: 'false', PATH: '/bin' };
    const given = argumentsFrom(flags, environment);
    expect(readFlags(flags, given)).toEqual({ 'who-asks': 'ada', count: 7, loud: false });
    const settings = readManagerSettings(['--datastore=a', '--watch-filter=b'], { ...pod, STEWARD_DATASTORE: 'c' });
    expect(settings).toMatchObject({ defaultDataStore: 'c', watchFilter: 'b' });
  });

  test('is not set when it is empty', () => {
    const environment = { STEWARD_WHO_ASKS: '', STEWARD_COUNT: '', STEWARD_LOUD: undefined };
    expect(argumentsFrom(flags, environment)).toEqual([]);
  });

  test('empties a text with a space', () => {
    expect(readFlags(flags, argumentsFrom(flags, { STEWARD_WHO_ASKS: ' ' }))['who-asks']).toBe('');
  });

  test('gives any text without the space around it', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        expect(readFlags(flags, argumentsFrom(flags, { STEWARD_WHO_ASKS: text }))['who-asks']).toBe(text.trim());
      }),
    );
  });

  test('counts for the manager, which refuses a wrong value as on its command line', () => {
    const settings = readManagerSettings(['--profiling'], {
      ...pod,
      STEWARD_TRACING_PERCENT: '7',
      STEWARD_DATASTORE: 'a',
    });
    expect(settings).toMatchObject({ defaultDataStore: 'a', profiling: true });
    const wrong = { ...pod, STEWARD_MAX_CONCURRENT_RECONCILES: 'many' };
    expect(() => readManagerSettings([], wrong)).toThrow(UsageError);
    expect(() => readManagerSettings([], wrong)).toThrow(
      '--max-concurrent-reconciles takes a whole number, got "many"',
    );
  });

  test('that names no flag is reported', () => {
    const environment = { ...pod, STEWARD_PROFILNG: 'true', STEWARD_PROFILING: 'true', STEWARDS: '1' };
    expect(strayVariables(managerFlags, environment)).toEqual(['STEWARD_PROFILNG']);
    expect(readManagerSettings([], environment).strayVariables).toEqual(['STEWARD_PROFILNG']);
  });
});

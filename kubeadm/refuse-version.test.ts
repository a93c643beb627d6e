import { describe, expect, test } from '@jest/globals';
import { InvalidInputError } from './invalid-input-error.ts';
import { refuseVersion } from './refuse-version.ts';
import { parseVersion } from './versions.ts';

function refusal(wanted: string, from: readonly string[], newest = 36): string | undefined {
  const found = refuseVersion(wanted, { field: 'spec.version', from: from.map((text) => parseVersion(text)), newest });
  return found && new InvalidInputError(found).message;
}

describe('a control plane may get', () => {
  test.each<[string, string, readonly string[], number]>([
    ['any hosted version at first', 'v1.20.0', [], 36],
    ['another patch', 'v1.36.1', ['v1.36.3'], 36],
    ['the next minor', '1.36.3', ['v1.35.4'], 36],
    ['another patch of the next minor while that is rolled out', 'v1.36.4', ['v1.35.4', 'v1.36.3'], 36],
    ['a patch of a minor that is hosted no more', 'v1.36.4', ['v1.36.3'], 35],
    ['a patch of a minor that is rolled out and hosted no more', 'v1.36.4', ['v1.35.4', 'v1.36.3'], 35],
  ])('%s', (_what, wanted, from, newest) => {
    expect(refusal(wanted, from, newest)).toBeUndefined();
  });
});

describe('a control plane may not get', () => {
  test.each<[string, string, readonly string[], string]>([
    ['what is not a version', 'latest', [], 'is not a Kubernetes version: use a full version such as v1.36.0'],
    ['a minor that is not hosted', 'v1.37.0', ['v1.36.3'], 'is newer than the supported versions'],
    ['another major version', 'v2.0.0', [], 'is newer than the supported versions'],
    [
      'a minor that is skipped',
      'v1.36.0',
      ['v1.34.1'],
      'skips a minor version after v1.34.1: from v1.34.1 upgrade to v1.34',
    ],
    ['a minor that is skipped while another is rolled out', 'v1.36.0', ['v1.34.1', 'v1.35.0'], 'skips a minor version'],
    [
      'the installed minor while a later one is rolled out',
      'v1.35.4',
      ['v1.35.4', 'v1.36.3'],
      'is a downgrade from v1.36.3',
    ],
  ])('%s', (_what, wanted, from, message) => {
    expect(refusal(wanted, from)).toContain(`spec.version "${wanted}" ${message}`);
  });
});

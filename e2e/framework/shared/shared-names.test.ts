import { expect, test } from '@jest/globals';

import { assertName } from '../../cluster/state.ts';
import { sharedAmong, sharedName, sharedOwner } from './shared-names.ts';

test('nothing is shared without the id of the process that removes it in the end', () => {
  expect(sharedOwner('')).toBeUndefined();
  expect(sharedOwner('4711')).toBe(4711);
  expect(() => sharedOwner('me')).toThrow('STEWARD_E2E_SHARED_OWNER is "me": give the id of a process.');
});

test('a name is valid for a harness, whatever the id of the process', () => {
  const longest = sharedName('steward', 4_194_304, '12');
  expect(longest.length).toBeLessThanOrEqual(30);
  expect(() => {
    assertName(longest);
  }).not.toThrow();
});

test('clusters of other processes, and harnesses that are not shared, are left alone', () => {
  const own = [sharedName('steward', 17, '1'), sharedName('capi', 17, '2')];
  const names = [...own, sharedName('steward', 171, '1'), sharedName('steward', 7, '1'), 'shared-17', 'exposure-17'];
  expect(sharedAmong(names, 17)).toEqual(own);
  expect(sharedAmong(names, 17, 'capi')).toEqual([own[1]]);
});

import { expect, test } from '@jest/globals';

import { codeInProse } from './code-in-prose.ts';

test.each([
  ['The flag --max-pods of the manager.', 'The flag `--max-pods` of the manager.'],
  ['Same as --wait=false.', 'Same as `--wait=false`.'],
  ['With --dry-run=client -o yaml, it prints.', 'With `--dry-run=client -o yaml`, it prints.'],
  ['The Secret <name>-admin-kubeconfig.', 'The Secret `<name>-admin-kubeconfig`.'],
  ['hash: v0-sha.<hash of the tree>. custom', 'hash: `v0-sha.<hash of the tree>`. custom'],
  ['Defaults to <namespace>-<name>.', 'Defaults to `<namespace>-<name>`.'],
  ['steward stack build <folder>', 'steward stack build `<folder>`'],
  ['Already code: `--a <b>` and `` ` <c> ``.', 'Already code: `--a <b>` and `` ` <c> ``.'],
  ['Of values: 1 < 2, a -- b, and well-known -n.', 'Of values: 1 < 2, a -- b, and well-known -n.'],
])('Flags and placeholders of "%s" become code', (text, expected) => {
  expect(codeInProse(text)).toBe(expected);
  expect(codeInProse(expected)).toBe(expected);
});

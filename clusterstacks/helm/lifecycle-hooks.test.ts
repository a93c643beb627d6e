import { expect, test } from '@jest/globals';
import { isForOtherOccasions } from './lifecycle-hooks.ts';

test.each([
  [undefined, false],
  ['pre-install', false],
  ['pre-install,pre-upgrade', false],
  ['post-upgrade', false],
  ['pre-install, pre-delete', false],
  ['pre-delete', true],
  ['post-delete,post-rollback', true],
  ['test', true],
  ['test-success', true],
])('An object with the hook %s is not applied: %s', (hook, expected) => {
  const annotations = hook === undefined ? {} : { annotations: { 'helm.sh/hook': hook } };
  expect(isForOtherOccasions({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a', ...annotations } })).toBe(
    expected,
  );
});

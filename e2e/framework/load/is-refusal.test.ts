import { expect, test } from '@jest/globals';

import { ApiError } from '../../cluster/api-connection.ts';
import { isRefusal } from './is-refusal.ts';

test.each([
  ['a conflict', 409, 'the object has been modified', true],
  ['an error of the server', 500, 'internal error', true],
  ['a write that etcd dropped', 500, 'etcdserver: request timed out, possibly due to previous leader failure', false],
  ['a write for which etcd had no time', 500, 'etcdserver: request timed out', false],
])('%s: %i %s', (_, code, message, expected) => {
  expect(isRefusal(new ApiError(code, message))).toBe(expected);
});

test('a broken connection is no refusal', () => {
  expect(isRefusal(new Error('read ECONNRESET'))).toBe(false);
});

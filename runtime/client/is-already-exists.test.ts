import { expect, test } from '@jest/globals';
import { ApiError } from './errors.ts';
import { isAlreadyExists } from './is-already-exists.ts';

test('only an object that exists already is one, and no conflict of another kind', () => {
  expect(isAlreadyExists(new ApiError(409, 'AlreadyExists', 'jobs.batch "a" already exists'))).toBe(true);
  expect(isAlreadyExists(new ApiError(409, 'Conflict', 'resourcequotas "all": the object has been modified'))).toBe(
    false,
  );
  expect(isAlreadyExists(new ApiError(422, 'Invalid', 'no'))).toBe(false);
  expect(isAlreadyExists(new Error('no'))).toBe(false);
});

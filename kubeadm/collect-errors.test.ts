import { expect, test } from '@jest/globals';
import { collectErrors } from './collect-errors.ts';
import { InvalidInputError } from './invalid-input-error.ts';

const invalid = { field: 'spec.a', reason: 'is not a port', remedy: 'use 6443' };
const fails = (error: Error) => () => {
  throw error;
};

test('errors about invalid input are collected from all checks', () => {
  expect(collectErrors(() => 1, fails(new InvalidInputError(invalid)), fails(new InvalidInputError(invalid)))).toEqual([
    invalid,
    invalid,
  ]);
});

test('any other error is rethrown', () => {
  expect(() => collectErrors(fails(new TypeError('ours')))).toThrow(TypeError);
});

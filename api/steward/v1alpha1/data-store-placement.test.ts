import { expect, test } from '@jest/globals';
import { validate } from '../../structural/validate.ts';
import { dataStorePlacement } from './data-store-placement.ts';

const taints = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `taint-${index}`, effect: 'NoPlacement' }));

test('a DataStore has up to 32 taints', () => {
  expect(validate(dataStorePlacement.openapi, { taints: taints(32) })).toEqual([]);
  expect(validate(dataStorePlacement.openapi, { taints: taints(33) })).toMatchObject([{ field: 'taints' }]);
});

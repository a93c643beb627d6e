import { expect, test } from '@jest/globals';

import { quotaRoom } from './quota-room.ts';

const used = { dataSize: '1048576', objects: 300 };

test('what a tenant may still store is what is allowed without what is used', () => {
  expect(quotaRoom({ quota: { hard: { dataSize: '2Mi', objects: 2000 }, used } })).toEqual({
    objects: 1700,
    bytes: 1_048_576,
  });
});

test('what is not limited has no end', () => {
  expect(quotaRoom({ quota: { hard: { objects: 2000 }, used } })?.bytes).toBe(Infinity);
  expect(quotaRoom({ quota: { hard: { dataSize: '2Mi' }, used } })?.objects).toBe(Infinity);
});

test('a tenant that was not measured yet is not known to have room', () => {
  expect(quotaRoom(undefined)).toBeUndefined();
  expect(quotaRoom({ quota: { hard: { objects: 2000 }, blocked: false } })).toBeUndefined();
});

import { expect, test } from '@jest/globals';
import { importRecordText, readImportRecord } from './import-record.ts';

const record = {
  since: '2026-11-26T10:00:00.000Z',
  endpoint: '10.0.0.1:6443',
  ca: 'aa',
  serviceAccountKey: 'bb',
  dataStore: 'default',
  schema: 's',
  user: 'u',
};

test('what is written is read', () => {
  expect(readImportRecord(importRecordText(record))).toEqual(record);
  const more = { ...record, inside: 'uid', drained: record.since };
  expect(readImportRecord(importRecordText(more))).toEqual(more);
});

test.each([
  ['nothing', undefined],
  ['no JSON', '{'],
  ['another kind of value', '[]'],
  ['a record that lacks a part', JSON.stringify({ ...record, ca: undefined })],
  ['a part that is no text', JSON.stringify({ ...record, inside: 1 })],
  ['a time that is none', JSON.stringify({ ...record, since: 'yesterday' })],
])('%s is no record', (_, text) => {
  expect(readImportRecord(text)).toBeUndefined();
});

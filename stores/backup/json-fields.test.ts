import { describe, expect, test } from '@jest/globals';
import { JsonFields } from './json-fields.ts';

const file = 'backups/1/manifest';

describe('A file of a backup', () => {
  test.each(['"text"', '7', 'true', 'null', '[]', '{', ''])('that is %j is refused as a whole', (text) => {
    expect(() => JsonFields.of(file, text)).toThrow(`${file} is not a file of a backup that this version can read`);
  });

  test.each(['{}', '{"format": 2}', '{"format": "1"}'])('of another format, such as %s, is refused', (text) => {
    expect(() => JsonFields.of(file, text)).toThrow('this version of Steward reads format 1');
  });

  test('whose list holds something other than objects is refused', () => {
    const fields = JsonFields.of(file, '{"format": 1, "parts": ["a"]}');
    expect(() => fields.list('parts')).toThrow(`${file} is not a file of a backup that this version can read`);
  });

  test('gives each field by its kind', () => {
    const fields = JsonFields.of(file, '{"format": 1, "name": "a", "revision": "12", "parts": [{"keys": 3}]}');
    expect(fields.text('name')).toBe('a');
    expect(fields.revision('revision')).toBe(12n);
    expect(fields.list('parts').map((part) => part.count('keys'))).toEqual([3]);
  });

  test.each([
    ['text', () => JsonFields.of(file, '{"format": 1, "x": 1}').text('x')],
    ['a number', () => JsonFields.of(file, '{"format": 1, "x": -1}').count('x')],
    ['a revision', () => JsonFields.of(file, '{"format": 1, "x": "1e3"}').revision('x')],
    ['a list', () => JsonFields.of(file, '{"format": 1, "x": {}}').list('x')],
  ])('with a field that is not %s is refused by the name of the field', (what, read) => {
    expect(read).toThrow(`${file} is damaged: its field x is not ${what}`);
  });
});

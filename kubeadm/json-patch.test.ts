import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyJsonPatches } from './json-patch.ts';
import type { JsonPatchOperation } from './json-patch.ts';

const apply = (document: Record<string, unknown>, ...operations: JsonPatchOperation[]): unknown =>
  applyJsonPatches(document, operations, 'configurationJSONPatches');

const key = fc.string({ maxLength: 6 }).filter((name) => name !== '__proto__');
const pointer = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

describe('applyJsonPatches', () => {
  test('adds, replaces, removes, moves, copies and tests', () => {
    const document = { a: 1, b: [1, 2], c: { d: 'x' } };
    expect(
      apply(
        document,
        { op: 'test', path: '/a', value: 1 },
        { op: 'replace', path: '/a', value: 2 },
        { op: 'add', path: '/b/-', value: 3 },
        { op: 'add', path: '/b/0', value: 0 },
        { op: 'copy', from: '/c/d', path: '/e' },
        { op: 'move', from: '/c/d', path: '/f' },
        { op: 'remove', path: '/c' },
      ),
    ).toEqual({ a: 2, b: [0, 1, 2, 3], e: 'x', f: 'x' });
  });

  test('does not change the document and the operations', () => {
    const document = { a: { b: 1 } };
    const value = { c: [1] };
    apply(document, { op: 'add', path: '/a/x', value }, { op: 'add', path: '/a/x/c/-', value: 2 });
    expect(document).toEqual({ a: { b: 1 } });
    expect(value).toEqual({ c: [1] });
  });

  test('accepts any key by its escaped pointer, and reverts itself', () => {
    fc.assert(
      fc.property(key, fc.jsonValue(), (name, value) => {
        const added = apply({}, { op: 'add', path: pointer(name), value }) as Record<string, unknown>;
        expect(Object.keys(added)).toEqual([name]);
        expect(JSON.stringify(added[name])).toBe(JSON.stringify(value));
        expect(apply(added, { op: 'remove', path: pointer(name) })).toEqual({});
      }),
    );
  });

  test.each<[string, JsonPatchOperation, string]>([
    [
      'a path that does not exist',
      { op: 'remove', path: '/x' },
      '"remove /x" cannot be applied: use a path that exists',
    ],
    ['a replacement of nothing', { op: 'replace', path: '/x/y', value: 1 }, '"replace /x/y" cannot be applied'],
    ['a source that does not exist', { op: 'move', from: '/x', path: '/y' }, 'cannot be applied'],
    ['a test that fails', { op: 'test', path: '/a', value: 2 }, '"test /a" does not hold: change the tested value'],
    ['a value that is missing', { op: 'add', path: '/x' }, 'cannot be applied'],
    ['a path that is none', { op: 'add', path: 'x', value: 1 }, 'cannot be applied'],
    ['an index beyond the end', { op: 'add', path: '/b/7', value: 1 }, 'cannot be applied'],
    ['the prototype', { op: 'add', path: '/__proto__/polluted', value: 1 }, 'cannot be applied'],
  ])('refuses %s with its index', (_, operation, message) => {
    const act = (): unknown => apply({ a: 1, b: [] }, { op: 'test', path: '/a', value: 1 }, operation);
    expect(act).toThrow('configurationJSONPatches[1]');
    expect(act).toThrow(message);
    expect(Object.prototype).not.toHaveProperty('polluted');
  });

  test('refuses to replace the whole document with something else', () => {
    expect(() => apply({ a: 1 }, { op: 'replace', path: '', value: 7 })).toThrow('does not result in a JSON object');
  });
});

import { describe, expect, test } from '@jest/globals';
import type { Infer, Input } from './schema.ts';
import { bool, described, int32, list, listMap, map, obj, oneOf, opt, quantity, ruled, setOf, str } from './schema.ts';

/** `true` if the two types are the same, else `false`. */
type Same<A, B> = [A, B] extends [B, A] ? true : false;
const same = (yes: true): boolean => yes;

const example = obj({
  driver: oneOf('etcd', 'NATS'),
  replicas: opt(int32({ minimum: 0 }), 2),
  note: opt(str()),
  nested: opt(obj({ on: opt(bool(), true) }), {}),
});

describe('the types of schema values', () => {
  test('fields with a default are present when read and optional when written', () => {
    interface Read {
      readonly driver: 'etcd' | 'NATS';
      readonly replicas: number;
      readonly nested: { readonly on: boolean };
      readonly note?: string;
    }
    const typed: Same<Infer<typeof example>, Read> = true;
    expect(same(typed)).toBe(true);
    const written: Input<typeof example> = { driver: 'etcd' };
    expect(written.driver).toBe('etcd');
    expect(example.openapi.required).toEqual(['driver']);
  });

  test('lists and maps are read-only', () => {
    const schema = obj({ names: list(str()), sizes: map(quantity()) });
    interface Read {
      readonly names: readonly string[];
      readonly sizes: Readonly<Record<string, string | number>>;
    }
    const typed: Same<Infer<typeof schema>, Read> = true;
    expect(same(typed)).toBe(true);
    const value: Infer<typeof schema> = { names: ['a'], sizes: {} };
    // @ts-expect-error what was read cannot be changed in place
    value.names[0] = 'b';
    expect(schema.openapi.required).toEqual(['names', 'sizes']);
  });

  test('what a structural schema cannot express does not compile', () => {
    // @ts-expect-error a default of another type
    opt(int32(), 'two');
    // @ts-expect-error a default that lacks a required field
    opt(obj({ name: str() }), {});
    // @ts-expect-error a key that is not a field of the items
    listMap(obj({ name: str() }), ['type']);
    // @ts-expect-error a set of objects has no identity that the API server could compare cheaply
    setOf(obj({ name: str() }));
    // @ts-expect-error an enum without values
    expect(oneOf().openapi.enum).toEqual([]);
  });
});

describe('the OpenAPI of schema values', () => {
  test('an object lists its required fields, its defaults and its rules', () => {
    const rule = { rule: 'self.replicas > 0', message: 'replicas must be positive' };
    expect(obj({ name: str({ maxLength: 3 }), replicas: opt(int32(), 2) }, rule).openapi).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', maxLength: 3 },
        replicas: { type: 'integer', format: 'int32', default: 2 },
      },
      required: ['name'],
      'x-kubernetes-validations': [rule],
    });
  });

  test('an object without required fields and rules lists neither', () => {
    expect(Object.keys(obj({ name: opt(str()) }).openapi)).toEqual(['type', 'properties']);
  });

  test('list types declare how server-side apply merges them', () => {
    expect(list(str()).openapi).toEqual({
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'atomic',
    });
    expect(setOf(str()).openapi).toMatchObject({ 'x-kubernetes-list-type': 'set' });
    expect(listMap(obj({ name: str() }), ['name']).openapi).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    });
  });

  test('rules and descriptions are added to a copy of the schema', () => {
    const plain = str();
    const rule = { rule: 'self == oldSelf', message: 'fixed' };
    const richer = described(ruled(ruled(plain, rule), rule), 'A name.');
    expect(richer.openapi).toEqual({
      type: 'string',
      description: 'A name.',
      'x-kubernetes-validations': [rule, rule],
    });
    expect(plain.openapi).toEqual({ type: 'string' });
  });
});

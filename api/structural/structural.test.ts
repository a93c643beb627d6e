import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { OpenApi } from '../schema.ts';
import {
  anyJson,
  bytes,
  int32,
  intOrString,
  list,
  listMap,
  map,
  obj,
  oneOf,
  opt,
  preserveUnknown,
  setOf,
  str,
} from '../schema.ts';
import { tenantControlPlane } from '../steward/v1alpha1/tenant-control-plane.ts';
import { applyDefaults } from './apply-defaults.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

const problems = (schema: { readonly openapi: OpenApi }, value: unknown): readonly string[] =>
  validate(schema.openapi, value, 'spec').map(({ field, message }) => `${field}: ${message}`);

const port = obj({ name: str(), protocol: opt(oneOf('TCP', 'UDP'), 'TCP') });
const parent = obj({
  ports: opt(listMap(port, ['name', 'protocol'])),
  size: opt(obj({ replicas: opt(int32({ minimum: 0 }), 2), note: opt(str()) }), {}),
  labels: opt(map(obj({ on: opt(str(), 'yes') }))),
});

describe('applyDefaults', () => {
  test('fills nested defaults of an absent object, of list items and of map values', () => {
    expect(applyDefaults(parent.openapi, { ports: [{ name: 'a' }], labels: { x: {} } })).toEqual({
      ports: [{ name: 'a', protocol: 'TCP' }],
      size: { replicas: 2 },
      labels: { x: { on: 'yes' } },
    });
  });

  test('keeps what the author wrote, including zero and empty text', () => {
    const written = { size: { replicas: 0, note: '' } };
    expect(applyDefaults(parent.openapi, written)).toEqual(written);
  });

  test('treats null as absent, except where null is a value', () => {
    const schema = obj({ a: opt(str(), 'x'), b: opt(str()), c: opt(anyJson()) });
    expect(applyDefaults(schema.openapi, { a: null, b: null, c: null })).toEqual({ a: 'x', c: null });
  });

  test('does not touch its input and changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value);
        const once = applyDefaults(parent.openapi, value);
        expect(JSON.stringify(value)).toBe(before);
        expect(applyDefaults(parent.openapi, once)).toEqual(once);
      }),
    );
  });

  test('handles field names that every JavaScript object inherits', () => {
    expect(applyDefaults(parent.openapi, JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}'))).toMatchObject({
      size: { replicas: 2 },
    });
  });
});

describe('prune', () => {
  test('drops what the schema does not know, at every depth', () => {
    expect(prune(parent.openapi, { size: { replicas: 1, x: 1 }, y: 1, ports: [{ name: 'a', z: 1 }] })).toEqual({
      size: { replicas: 1 },
      ports: [{ name: 'a' }],
    });
  });

  test('keeps everything below a field that preserves unknown fields', () => {
    const schema = obj({ any: opt(anyJson()), object: preserveUnknown() });
    const value = { any: { deep: [{ down: 1 }] }, object: { deep: { down: null } } };
    expect(prune(schema.openapi, value)).toEqual(value);
  });

  test('changes nothing the second time', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const once = prune(parent.openapi, value);
        expect(prune(parent.openapi, once)).toEqual(once);
      }),
    );
  });
});

describe('validate', () => {
  test.each([
    ['a missing required field', { ports: [{}] }, 'spec.ports[0].name: Required value'],
    [
      'a wrong type',
      { size: { replicas: 'two' } },
      'spec.size.replicas: Invalid value: "two": must be of type integer',
    ],
    ['a number out of range', { size: { replicas: -1 } }, 'spec.size.replicas: Invalid value: -1: should be greater'],
    ['a number beyond 32 bits', { size: { replicas: 2 ** 31 } }, 'spec.size.replicas: Invalid value: 2147483648'],
    ['a value that is not in the enum', { ports: [{ name: 'a', protocol: 'X' }] }, 'Unsupported value: "X": supported'],
    [
      'a duplicate key',
      {
        ports: [
          { name: 'a', protocol: 'TCP' },
          { name: 'a', protocol: 'TCP' },
        ],
      },
      'spec.ports[1]: Duplicate value: ["a","TCP"]',
    ],
  ])('names the field of %s', (_, value, expected) => {
    expect(problems(parent, value).join('\n')).toContain(expected);
  });

  test('refuses duplicates in sets, too short or long lists and texts, and unmatched patterns', () => {
    expect(problems(setOf(str()), ['a', 'a'])).toEqual(['spec[1]: Duplicate value: "a"']);
    expect(problems(list(str(), { minItems: 1 }), [])).toEqual(['spec: Invalid value: should have at least 1 items']);
    expect(problems(list(str(), { maxItems: 1 }), ['a'])).toEqual([]);
    expect(problems(list(str(), { maxItems: 1 }), ['a', 'b'])).toEqual(['spec: Too many: must have at most 1 items']);
    expect(problems(str({ minLength: 1 }), '')).toHaveLength(1);
    expect(problems(str({ minLength: 1 }), 'a')).toEqual([]);
    // The API server counts code points, not UTF-16 code units.
    expect(problems(str({ maxLength: 1 }), '😀')).toEqual([]);
    expect(problems(str({ maxLength: 1 }), '😀😀')).toHaveLength(1);
    expect(problems(str({ pattern: '^a$' }), 'b')).toHaveLength(1);
  });

  test('accepts only base64 for bytes', () => {
    expect(problems(bytes(), 'QUI=')).toEqual([]);
    expect(problems(bytes(), '')).toEqual([]);
    expect(problems(bytes(), 'not base64!')).toEqual(['spec: Invalid value: must be base64']);
  });

  test('limits a number to 32 bits, whatever its own limits allow', () => {
    expect(problems(int32(), -(2 ** 31))).toEqual([]);
    expect(problems(int32({ minimum: -(2 ** 40) }), -(2 ** 31) - 1)).toHaveLength(1);
    expect(problems(int32({ maximum: 2 ** 40 }), 2 ** 31)).toHaveLength(1);
  });

  test('accepts integers and strings where both are allowed', () => {
    expect(problems(intOrString(), 1)).toEqual([]);
    expect(problems(intOrString(), 'http')).toEqual([]);
    expect(problems(intOrString(), true)).toHaveLength(1);
  });

  test('accepts every smallest TenantControlPlane once defaults are applied', () => {
    fc.assert(
      fc.property(fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'), fc.string(), (serviceType, version) => {
        const spec = { controlPlane: { service: { serviceType } }, kubernetes: { version } };
        expect(problems(tenantControlPlane.spec, applyDefaults(tenantControlPlane.spec.openapi, spec))).toEqual([]);
      }),
    );
  });
});

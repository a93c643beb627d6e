import { describe, expect, test } from '@jest/globals';
import { described, list } from '../schema.ts';
import type { OpenApi } from '../schema.ts';
import { core, coreTypeOf } from './core-schema.ts';
import generated from './generated/core.json' with { type: 'json' };

/** All schemas within a schema, including itself. */
function within(schema: OpenApi): readonly OpenApi[] {
  const below = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
  return [schema, ...below.flatMap((one) => (one ? within(one) : []))];
}

const definitions = Object.entries(generated.definitions as Readonly<Record<string, OpenApi>>);

describe('The embedded types of Kubernetes', () => {
  test('the file names its source and license', () => {
    expect(generated.$comment).toMatch(/Kubernetes v\d+\.\d+\.\d+.*Apache License 2\.0/);
  });

  test.each(definitions)('%s is structural: typed everywhere, without references and alternatives', (_, definition) => {
    for (const schema of within(definition)) {
      const known = schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true;
      expect(known).toBe(true);
      expect(Object.keys(schema)).not.toEqual(expect.arrayContaining(['$ref']));
      expect('allOf' in schema || 'oneOf' in schema).toBe(false);
    }
  });

  test.each(definitions)('%s has for every list key a field that is required or has a default', (_, definition) => {
    for (const schema of within(definition)) {
      for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
        const required = (schema.items?.required ?? []).includes(key);
        expect(required || schema.items?.properties?.[key]?.default !== undefined).toBe(true);
      }
    }
  });

  test('special types of Kubernetes are kept: quantities, named ports, the protocol of a port', () => {
    const container = core('Container').openapi.properties;
    expect(container?.ports?.items?.properties?.protocol).toEqual({ type: 'string', default: 'TCP' });
    const probe = container?.livenessProbe?.properties?.httpGet?.properties?.port;
    expect(probe?.['x-kubernetes-int-or-string']).toBe(true);
    expect(core('ResourceRequirements').openapi.properties?.limits?.additionalProperties?.pattern).toBeDefined();
  });

  test('a type is recognized with another description, but not in a list', () => {
    expect(coreTypeOf(described(core('Volume'), 'A volume.').openapi)).toBe('Volume');
    expect(coreTypeOf(list(core('Volume')).openapi)).toBeUndefined();
  });
});

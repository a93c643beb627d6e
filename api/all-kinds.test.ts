import { describe, expect, test } from '@jest/globals';
import { allKinds } from './all-kinds.ts';
import { coreTypeOf } from './core/core-schema.ts';
import { probeTimingFields } from './embedded/probes.ts';
import type { OpenApi } from './schema.ts';

type OwnField = readonly [path: string, name: string, description: string];

/**
 * The numbers of a probe have the names and the meaning of Kubernetes. A StewardControlPlane has them twelve times in each of its
 * versions, and `kubectl apply` takes no definition above 256 KiB.
 */
const probeNumbers = probeTimingFields.liveness.optional.openapi.properties;

/** The fields below `path`, with their descriptions. Those inside of embedded Kubernetes types are not ours. */
function ownFields(schema: OpenApi, path: string): readonly OwnField[] {
  if (coreTypeOf(schema) !== undefined || schema.properties === probeNumbers) return [];
  if (schema.items) return ownFields(schema.items, `${path}[]`);
  if (schema.additionalProperties) return ownFields(schema.additionalProperties, `${path}.*`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = `${path}.${name}`;
    return [[here, name, field.description ?? ''] as const, ...ownFields(field, here)];
  });
}

/** The words of a text or of a name in camel case, without those that say nothing alone. */
function words(text: string): readonly string[] {
  const all = text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return all.match(/[a-z0-9]+/g)?.filter((word) => !['a', 'an', 'and', 'in', 'of', 'the'].includes(word)) ?? [];
}

function saysMoreThan(description: string, name: string): boolean {
  const known = words(name);
  return words(description).some((word) => !known.includes(word) && !known.includes(word.replace(/s$/, '')));
}

describe.each(allKinds.map((kind) => [kind.kind, kind] as const))('Every field of %s', (_, { spec, status }) => {
  const fields = [...ownFields(spec.openapi, 'spec'), ...(status ? ownFields(status.openapi, 'status') : [])];

  test('has a description in sentences', () => {
    expect(fields.filter(([, , text]) => !/^[A-Z`].*\.$/.test(text)).map(([path]) => path)).toEqual([]);
  });

  test('has a description that says more than its name', () => {
    expect(fields.filter(([, name, text]) => !saysMoreThan(text, name)).map(([path]) => path)).toEqual([]);
  });
});

test('Every kind has a namespace, but for those that belong to no tenant', () => {
  const clusterScoped = allKinds.filter(({ namespaced }) => !namespaced);
  expect(clusterScoped.map(({ kind }) => kind)).toEqual(['RetainedControlPlane', 'DataStore', 'KubeconfigGenerator']);
});

test.each([
  ['lastUpdate', 'The last update.', false],
  ['name', 'Name.', false],
  ['name', 'Name of the Secret.', true],
])('of the name %s, the description "%s" says more: %s', (name, description, expected) => {
  expect(saysMoreThan(description, name)).toBe(expected);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
}

/** The lists of paths in `parents/`, and the CRD that has to have them. */
const parents = [
  ['steward-tenantcontrolplanes', 'steward.butlerlabs.dev_tenantcontrolplanes'],
  ['steward-datastores', 'steward.butlerlabs.dev_datastores'],
  ['steward-kubeconfiggenerators', 'steward.butlerlabs.dev_kubeconfiggenerators'],
  ['kamaji-tenantcontrolplanes', 'steward.butlerlabs.dev_tenantcontrolplanes'],
  ['kamaji-datastores', 'steward.butlerlabs.dev_datastores'],
  ['kamaji-kubeconfiggenerators', 'steward.butlerlabs.dev_kubeconfiggenerators'],
  ['kamaji-kamajicontrolplanes', 'controlplane.cluster.x-k8s.io_stewardcontrolplanes'],
] as const;

function pathsBelow(schema: Schema, at: string): readonly string[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    ...Object.entries(properties).flatMap(([name, below]) => {
      const path = at === '' ? name : `${at}.${name}`;
      return [path, ...pathsBelow(below, path)];
    }),
    ...(items === undefined ? [] : pathsBelow(items, `${at}[]`)),
    ...(typeof additionalProperties === 'object' ? pathsBelow(additionalProperties, `${at}.*`) : []),
  ];
}

function pathsOf(definition: string): ReadonlySet<string> {
  const text = readFileSync(join(root, 'config/crd', `${definition}.yaml`), 'utf8');
  const { versions } = (parse(text) as Definition).spec;
  return new Set(versions.flatMap(({ schema }) => pathsBelow(schema.openAPIV3Schema, '')));
}

function listed(name: string): readonly string[] {
  const text = readFileSync(join(root, 'testing/repository/parents', `${name}.txt`), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

describe('Users of another project of the family find every field', () => {
  test.each(parents)('of %s in %s', (list, definition) => {
    const ours = pathsOf(definition);
    const theirs = listed(list);
    expect(theirs.length).toBeGreaterThan(15);
    expect(theirs.filter((path) => !ours.has(path))).toEqual([]);
  });
});

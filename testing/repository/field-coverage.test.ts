import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { allKinds } from '../../api/all-kinds.ts';
import { coveredFields, fieldCoveragePage } from '../../api/generate/field-coverage.ts';
import type { FieldCoverage } from '../../api/generate/field-coverage.ts';
import { fieldLeaves } from '../../api/generate/field-leaves.ts';

const root = join(import.meta.dirname, '../..');
const noted = parse(readFileSync(join(import.meta.dirname, 'field-coverage.yaml'), 'utf8')) as FieldCoverage;
const kinds = allKinds.filter(({ kind }) => noted[kind] !== undefined);

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('The fields of %s', (name, kind) => {
  const fields = coveredFields(kind, noted);

  test('each have a test that shows their effect', () => {
    const bare = fields.filter(({ tests }) => tests.length === 0);
    expect(bare.map(({ field }) => field)).toEqual([]);
  });

  test('are listed with the names of the schema', () => {
    const known = new Set(fieldLeaves(kind.spec.openapi, 'spec'));
    const named = Object.values(noted[name] ?? {}).flatMap((titles) => Object.values(titles).flat());
    expect(named.filter((field) => !known.has(field))).toEqual([]);
  });

  test('name only tests that exist', () => {
    const missing = Object.entries(noted[name] ?? {}).flatMap(([file, titles]) => {
      const text = readFileSync(join(root, file), 'utf8');
      return Object.keys(titles)
        .filter((title) => !["'", '"', '`'].some((quote) => text.includes(`(${quote}${title}${quote}, `)))
        .map((title) => `${file}: ${title}`);
    });
    expect(missing).toEqual([]);
  });
});

test('the page shows the test of each field, or that it has none', () => {
  const generator = allKinds.filter(({ kind }) => kind === 'KubeconfigGenerator');
  const some = { KubeconfigGenerator: { 'a/b.test.ts': { 'shows | %j': ['spec.user.stringValue'] } } };
  const page = fieldCoveragePage(generator, some);
  expect(page).toContain('7 fields, 1 with a test.');
  expect(page).toContain('| `spec.user.stringValue` | [shows \\| …](../../a/b.test.ts) |');
  expect(page).toContain('| `spec.namespaceSelector` | none |');
});

test('every kind in the list exists', () => {
  expect(kinds.map(({ kind }) => kind).sort()).toEqual(Object.keys(noted).sort());
});

import type { Kind } from '../schema.ts';
import { fieldLeaves } from './field-leaves.ts';
import { readableTitle } from './readable-title.ts';

/** Kind → test file → test title → the fields whose effect the test shows. */
export type FieldCoverage = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>
>;

/** One field and the tests that show its effect. */
export interface CoveredField {
  readonly field: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

/** Every field in the spec of a kind with its tests, in the order of the schema. */
export function coveredFields(kind: Kind, noted: FieldCoverage): readonly CoveredField[] {
  const entries = Object.entries(noted[kind.kind] ?? {}).flatMap(([file, titles]) =>
    Object.entries(titles).flatMap(([title, fields]) => fields.map((field) => ({ file, title, field }))),
  );
  return fieldLeaves(kind.spec.openapi, 'spec').map((field) => ({
    field,
    tests: entries.filter((entry) => entry.field === field).map(({ file, title }) => ({ file, title })),
  }));
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function row({ field, tests }: CoveredField): string {
  const shown = tests.map(({ file, title }) => `[${cell(readableTitle(title))}](../../${file})`).join('<br>');
  return `| \`${field}\` | ${shown === '' ? 'none' : shown} |`;
}

/** The page that lists, for each field of the noted kinds, the tests that show its effect. */
export function fieldCoveragePage(kinds: readonly Kind[], noted: FieldCoverage): string {
  const sections = kinds
    .filter(({ kind }) => noted[kind] !== undefined)
    .flatMap((kind) => {
      const fields = coveredFields(kind, noted);
      const covered = fields.filter(({ tests }) => tests.length > 0).length;
      const count = `${fields.length} fields, ${covered} with a test.`;
      return [
        `## ${kind.kind}`,
        count,
        ['| Field | Test that shows its effect |', '| --- | --- |', ...fields.map(row)].join('\n'),
      ];
    });
  const text = [
    '<!-- Made by `npm run gen` from testing/repository/field-coverage.yaml; do not edit. -->',
    '# Fields and the tests that show their effect',
    'Each field of these specs, with a test that fails if the field has no effect. `…` stands for the values with which a test\nruns several times.',
    ...sections,
  ].join('\n\n');
  return `${text}\n`;
}

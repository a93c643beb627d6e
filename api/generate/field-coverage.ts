import type { Kind } from '../schema.ts';
import { fieldLeaves } from './field-leaves.ts';

/** Kind → test file → test title → the fields whose effect the test shows. */
export type FieldCoverage = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>
>;

/** One field and the tests that show its effect. */
export interface CoveredField {
  readonly field: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
  /** True if the field, or one that contains it, has no effect in this version. */
  readonly isInert: boolean;
}

const isBelow = (field: string, parent: string): boolean =>
  field === parent || field.startsWith(`${parent}.`) || field.startsWith(`${parent}[`);

/** Every field in the spec of a kind with its tests, in the order of the schema. */
export function coveredFields(kind: Kind, noted: FieldCoverage, inert: readonly string[]): readonly CoveredField[] {
  const entries = Object.entries(noted[kind.kind] ?? {}).flatMap(([file, titles]) =>
    Object.entries(titles).flatMap(([title, fields]) => fields.map((field) => ({ file, title, field }))),
  );
  return fieldLeaves(kind.spec.openapi, 'spec').map((field) => ({
    field,
    tests: entries.filter((entry) => entry.field === field).map(({ file, title }) => ({ file, title })),
    isInert: inert.some((parent) => isBelow(field, parent)),
  }));
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function row({ field, tests, isInert }: CoveredField): string {
  const shown = tests.map(({ file, title }) => `[${cell(title)}](../../${file})`).join('<br>');
  const missing = isInert ? 'no effect yet' : 'none';
  return `| \`${field}\` | ${shown === '' ? missing : shown} |`;
}

/** The page that lists, for each field of the noted kinds, the tests that show its effect. */
export function fieldCoveragePage(kinds: readonly Kind[], noted: FieldCoverage, inert: readonly string[]): string {
  const sections = kinds
    .filter(({ kind }) => noted[kind] !== undefined)
    .flatMap((kind) => {
      const fields = coveredFields(kind, noted, inert);
      const covered = fields.filter(({ tests }) => tests.length > 0).length;
      const waiting = fields.filter(({ isInert }) => isInert).length;
      const count = `${fields.length} fields, ${covered} with a test, ${waiting} without effect yet.`;
      return [
        `## ${kind.kind}`,
        count,
        ['| Field | Test that shows its effect |', '| --- | --- |', ...fields.map(row)].join('\n'),
      ];
    });
  const text = [
    '<!-- Made by `npm run gen` from testing/repository/field-coverage.yaml; do not edit. -->',
    '# Fields and the tests that show their effect',
    'A field without effect yet is named in the condition `UnsupportedFields` of objects that use it.',
    ...sections,
  ].join('\n\n');
  return `${text}\n`;
}

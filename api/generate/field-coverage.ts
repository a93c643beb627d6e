import type { Kind } from '../schema.ts';
import { fieldLeaves } from './field-leaves.ts';

/** Kind → file of tests → title of a test → the fields whose effect it shows. */
export type FieldCoverage = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>>
>;

/** One field and the tests that show its effect. */
export interface CoveredField {
  readonly field: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
  /** True when this version does not act upon it, or upon something that it is a part of. */
  readonly isInert: boolean;
}

const isBelow = (field: string, parent: string): boolean =>
  field === parent || field.startsWith(`${parent}.`) || field.startsWith(`${parent}[`);

/** Every field of a kind's spec with its tests, in the order of the schema. */
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
  const missing = isInert ? 'not acted upon yet' : 'none';
  return `| \`${field}\` | ${shown === '' ? missing : shown} |`;
}

/** The page that names, for each field of the noted kinds, the test that shows its effect. */
export function fieldCoveragePage(kinds: readonly Kind[], noted: FieldCoverage, inert: readonly string[]): string {
  const sections = kinds
    .filter(({ kind }) => noted[kind] !== undefined)
    .flatMap((kind) => {
      const fields = coveredFields(kind, noted, inert);
      const covered = fields.filter(({ tests }) => tests.length > 0).length;
      const waiting = fields.filter(({ isInert }) => isInert).length;
      const count = `${fields.length} fields, ${covered} with a test, ${waiting} not acted upon yet.`;
      return [
        `## ${kind.kind}`,
        count,
        ['| Field | Test that shows its effect |', '| --- | --- |', ...fields.map(row)].join('\n'),
      ];
    });
  const text = [
    '<!-- Made by `npm run gen` from testing/field-coverage.yaml; do not edit. -->',
    '# Fields and the tests that show their effect',
    'A field that is not acted upon yet is named in the condition `UnsupportedFields` of objects that use it.',
    ...sections,
  ].join('\n\n');
  return `${text}\n`;
}

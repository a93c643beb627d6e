import type { ConditionRow } from '../condition-row.ts';
import { commonRemedies } from '../remedies/common-remedies.ts';
import { commonReasons, conditionTable } from '../conditions.ts';
import { coreTypeOf } from '../core/core-schema.ts';
import { remedyTable } from '../remedies/remedy-table.ts';
import type { Remedy } from '../remedies/remedy.ts';
import type { Kind, OpenApi } from '../schema.ts';
import { codeInProse } from './code-in-prose.ts';

const header = '<!-- Made by `npm run gen`; do not edit. -->';

/** A cell of a Markdown table. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const code = (text: string): string => `\`${text.replaceAll('`', "'")}\``;
const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

/** Kubernetes types have their own reference; their fields are not repeated. */
const coreLink = (name: string): string =>
  `[${name}](https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#${name.toLowerCase()}-v1-${
    { DeploymentStrategy: 'apps', LabelSelector: 'meta' }[name] ?? 'core'
  })`;

function typeOf(schema: OpenApi): string {
  const core = coreTypeOf(schema);
  if (core !== undefined) return coreLink(core);
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.items) return schema.type === 'array' ? `list of ${typeOf(schema.items)}` : 'string or list of strings';
  if (schema.additionalProperties) return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.type === undefined) return 'any';
  return schema.format === undefined ? schema.type : `${schema.type} (${schema.format})`;
}

const limits = [
  ['minLength', 'at least', 'character'],
  ['maxLength', 'at most', 'character'],
  ['minimum', 'at least', ''],
  ['maximum', 'at most', ''],
  ['minItems', 'at least', 'item'],
  ['maxItems', 'at most', 'item'],
] as const;

/** The constraints of a field as text. Enum values are listed. */
function constraintsOf(schema: OpenApi): readonly string[] {
  const values = schema.enum ?? schema.items?.enum;
  const rules = schema['x-kubernetes-validations'] ?? [];
  return [
    ...(values && coreTypeOf(schema) === undefined ? [`one of ${values.map(code).join(', ')}`] : []),
    ...limits.flatMap(([key, words, unit]) => {
      const limit = schema[key];
      if (limit === undefined) return [];
      return [unit === '' ? `${words} ${limit}` : `${words} ${limit} ${unit}${limit === 1 ? '' : 's'}`];
    }),
    ...(schema['x-kubernetes-list-type'] === 'set' ? ['no duplicates'] : []),
    ...rules.map(({ message }) => `rule: ${message}`),
  ];
}

/** Rows of the fields below `path`, depth first. Fields of embedded Kubernetes types are not listed. */
function fieldRows(schema: OpenApi, path: string): readonly (readonly string[])[] {
  if (coreTypeOf(schema) !== undefined) return [];
  if (schema.items) return fieldRows(schema.items, `${path}[]`);
  if (schema.additionalProperties) return fieldRows(schema.additionalProperties, `${path}.*`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = path === '' ? name : `${path}.${name}`;
    const required = (schema.required ?? []).includes(name);
    const byDefault = field.default === undefined ? '' : code(JSON.stringify(field.default));
    const text = [field.description ?? '', constraintsOf(field).join('; ')].filter((part) => part !== '').join(' — ');
    return [[code(here), typeOf(field), required ? 'required' : byDefault, text], ...fieldRows(field, here)];
  });
}

const fieldTable = (schema: OpenApi, path: string): string =>
  table(['Field', 'Type', 'Default', 'Meaning'], fieldRows(schema, path));

/** The reference page of a kind, in Markdown. */
export function kindPage(kind: Kind): string {
  const versions = kind.versions.map(({ name, storage }) => `${code(name)}${storage ? ' (stored)' : ''}`).join(', ');
  const names = [kind.plural, ...kind.shortNames].map(code).join(', ');
  const specRules = kind.spec.openapi['x-kubernetes-validations'] ?? [];
  const sections = [
    header,
    `# ${kind.kind}`,
    kind.description,
    ...(kind.rules ? [kind.rules.map(({ message }) => `- rule: ${message}`).join('\n')] : []),
    table(
      ['', ''],
      [
        ['Group', code(kind.group)],
        ['Versions', versions],
        ['Names', names],
        ['Scope', kind.namespaced ? 'namespaced' : 'cluster'],
        ['Subresources', [...(kind.status ? ['status'] : []), ...(kind.scale ? ['scale'] : [])].join(', ') || 'none'],
        ['Columns', kind.columns.map(({ name, jsonPath }) => `${name} (${code(jsonPath)})`).join(', ')],
      ],
    ),
    '## Spec',
    ...(specRules.length > 0 ? [specRules.map(({ message }) => `- rule: ${message}`).join('\n')] : []),
    fieldTable(kind.spec.openapi, 'spec'),
    ...(kind.status ? ['## Status', fieldTable(kind.status.openapi, 'status')] : []),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** A remedy as text, with its commands. */
function remedyText({ text, commands = [] }: Remedy): string {
  return [codeInProse(text), ...commands.map(code)].join(' ');
}

/** The reasons of a condition; with what to do where the kind's reasons have remedies. */
function reasonTable(
  reasons: Readonly<Record<string, string>>,
  remedies: Readonly<Record<string, Remedy>> | undefined,
): string {
  if (remedies === undefined)
    return table(
      ['Reason', 'Meaning'],
      Object.entries(reasons).map(([reason, text]) => [code(reason), codeInProse(text)]),
    );
  const rows = Object.entries(reasons).map(([reason, text]) => {
    const remedy = remedies[reason];
    return [code(reason), codeInProse(text), remedy === undefined ? '' : remedyText(remedy)];
  });
  return table(['Reason', 'Meaning', 'What to do'], rows);
}

/** The page of all conditions and reasons, in Markdown. */
export function conditionsPage(): string {
  const kinds: Readonly<Record<string, Readonly<Record<string, ConditionRow>>>> = conditionTable;
  const remedies: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Remedy>>>>>> = remedyTable;
  const sections = Object.entries(kinds).flatMap(([kind, rows]) => [
    `## ${kind}`,
    ...Object.entries(rows).flatMap(([type, row]) => [
      `### ${type}`,
      `${codeInProse(row.meaning)}${row.polarity === 'negative' ? ' False is the healthy state.' : ''}`,
      reasonTable(row.reasons, remedies[kind]?.[type]),
    ]),
  ]);
  const intro =
    'The objects of Steward say in their conditions what is done and what is awaited. For each kind and condition, this page has the reasons, what they mean, and what to do. To begin from what you see, read [Find out what is wrong](../../how-to/troubleshoot.md).';
  const common = ['## Reasons of all conditions', reasonTable(commonReasons, commonRemedies)];
  return `${[header, '# Conditions', intro, ...common, ...sections].join('\n\n')}\n`;
}

import type { FieldChange } from './field-changes.ts';
import type { Plan, PlannedObject, PlannedPods, PlannedVersion } from './plan-result.ts';

const marks = { create: '+', change: '~', delete: '-' } as const satisfies Record<PlannedObject['action'], string>;

/** The most characters of a value that is shown. */
const longestValue = 120;

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text;
}

function fieldLines({ field, before, after }: FieldChange): readonly string[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    const items = [...before.map((item) => `- ${valueText(item)}`), ...after.map((item) => `+ ${valueText(item)}`)];
    return [`    ${field}`, ...items.map((line) => `      ${line}`)];
  }
  if (before === undefined) return [`    ${field}: + ${valueText(after)}`];
  if (after === undefined) return [`    ${field}: - ${valueText(before)}`];
  return [`    ${field}: ${valueText(before)} → ${valueText(after)}`];
}

function objectLines({ action, kind, namespace, name, fields }: PlannedObject): readonly string[] {
  const of = namespace === undefined ? name : `${namespace}/${name}`;
  return [`  ${marks[action]} ${kind} ${of}`, ...fields.flatMap(fieldLines)];
}

function podsText({ action, from, to, reasons }: PlannedPods): readonly string[] {
  switch (action) {
    case 'none':
      return ['Pods: nothing restarts'];
    case 'start':
      return [`Pods: ${to} start`];
    case 'stop':
      return [`Pods: all ${from} stop`];
    case 'scale':
      return [`Pods: ${from} become ${to}; none restarts`];
    case 'restart':
      return [
        `Pods: all ${from} are replaced${from === to ? '' : `, and become ${to}`}, because of`,
        ...reasons.map((reason) => `  ${reason}`),
      ];
  }
}

function versionLines({ from, to, heldBy, unchecked }: PlannedVersion): readonly string[] {
  if (from === undefined) return [`Version: ${to}`];
  if (from === to) return [`Version: stays ${to}`];
  if (heldBy !== undefined) return [`Version: stays ${from}; ${to} is held (${heldBy.reason}): ${heldBy.message}`];
  const checks = unchecked.length === 0 ? '' : `; not checked yet: ${unchecked.join(', ')}`;
  return [`Version: ${from} → ${to}${checks}`];
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : [title, ...lines];

/** The plan as text. Marks instead of colors: `+` is created or added, `~` changes, `-` is deleted or removed. */
export function renderPlan(plan: Plan): string {
  const { kind, namespace, name, refused, warnings, change, objects, pods, version, waits, notes } = plan;
  const title = `Plan for ${kind} ${namespace}/${name}`;
  const warned = warnings.map((warning) => `Warning: ${warning}`);
  if (refused !== undefined) return `${[title, `Refused: ${refused}`, ...warned].join('\n')}\n`;
  const inPlace = (where: PlannedObject['where']): readonly string[] =>
    objects.filter((object) => object.where === where).flatMap(objectLines);
  const lines = [
    title,
    ...warned,
    ...notes.map((note) => `Note: ${note}`),
    ...section('Change', change.flatMap(fieldLines)),
    ...versionLines(version),
    ...podsText(pods),
    ...section('Objects in the management cluster', inPlace('management cluster')),
    ...section('Objects in the tenant', inPlace('tenant')),
    ...section(
      'Then it waits',
      waits.map(({ condition, reason, message }) => `  ${condition} ${reason}: ${message}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

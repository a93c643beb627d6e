import type { Condition } from '../../api/meta.ts';
import { setCondition, withoutConditions } from './conditions.ts';

/** Type of the condition, and reason of the Event, for a definition that is older than the manager. */
export const definitionOutdatedType = 'DefinitionOutdated';

type Fields = Readonly<Record<string, unknown>>;

/** More than that many fields are not named one by one. */
const mostNamed = 10;

/** The fields that were sent but not returned, as paths below `path`: the API server drops fields that its CRD lacks. */
export function lostFields(sent: unknown, stored: unknown, path: string): readonly string[] {
  if (sent === undefined || sent === null) return [];
  if (stored === undefined || stored === null) return [path];
  if (Array.isArray(sent)) {
    const after: readonly unknown[] = Array.isArray(stored) ? stored : [];
    return distinct(sent.flatMap((one, n) => (n < after.length ? lostFields(one, after[n], `${path}[]`) : [path])));
  }
  if (!isFields(sent) || !isFields(stored)) return [];
  return Object.entries(sent).flatMap(([name, field]) =>
    lostFields(field, Object.hasOwn(stored, name) ? stored[name] : undefined, `${path}.${name}`),
  );
}

/** The message for a person if the API server does not store fields of a kind of Steward, such as `status.digest`. */
export function definitionOutdatedText(kind: string, fields: readonly string[]): string {
  const named = [...fields].sort();
  const more = named.length > mostNamed ? ` and ${named.length - mostNamed} more fields` : '';
  return (
    `the API server does not store ${named.slice(0, mostNamed).join(', ')}${more} of this ${kind}, because its ` +
    `definition of ${kind}s is older than the manager: apply the CustomResourceDefinitions of the manager's ` +
    'version (the chart steward-crds, or the components of clusterctl); the manager then continues'
  );
}

/** The status with the condition for the fields that were lost, and without it when there are none. Others stay as they are. */
export function withDefinitionOutdated(
  status: unknown,
  lost: { readonly kind: string; readonly fields: readonly string[] },
  at: { readonly generation: number; readonly now: Date },
): unknown {
  if (!isFields(status) || !Array.isArray(status.conditions)) return status;
  const conditions = status.conditions as readonly Condition[];
  if (lost.fields.length === 0) {
    return { ...status, conditions: withoutConditions(conditions, [definitionOutdatedType]) };
  }
  const message = definitionOutdatedText(lost.kind, lost.fields);
  const condition = { type: definitionOutdatedType, status: 'True', reason: 'FieldsLost', message } as const;
  return { ...status, conditions: setCondition(conditions, condition, at) };
}

/** The wanted status with the condition as it was: whether it still holds is known only when the status was sent. */
export function keepingDefinitionOutdated(wanted: unknown, before: unknown): unknown {
  const known = conditionsOf(before)?.find(({ type }) => type === definitionOutdatedType);
  const list = conditionsOf(wanted);
  if (known === undefined || list === undefined || !isFields(wanted)) return wanted;
  return { ...wanted, conditions: [...withoutConditions(list, [definitionOutdatedType]), known] };
}

function conditionsOf(status: unknown): readonly Condition[] | undefined {
  return isFields(status) && Array.isArray(status.conditions) ? (status.conditions as readonly Condition[]) : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const distinct = (paths: readonly string[]): readonly string[] => [...new Set(paths)];

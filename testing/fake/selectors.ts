import type { Selection } from '../../runtime/client/cluster.ts';
import { ApiError } from '../../runtime/client/errors.ts';
import type { StoredObject } from './stored-object.ts';

type Labels = Readonly<Record<string, string>>;
type Test = (labels: Labels) => boolean;

const requirement = /^\s*(!)?\s*([A-Za-z0-9._/-]+)\s*(?:(=|==|!=)\s*([A-Za-z0-9._-]*)|\s(in|notin)\s*\(([^)]*)\))?\s*$/;

/** Parses a label selector in the API's string form. Throws `ApiError` 400 as the server does. */
export function labelTest(selector: string | undefined): Test {
  if (selector === undefined || selector.trim() === '') return () => true;
  const tests = splitOutsideParentheses(selector).map(parseRequirement);
  return (labels) => tests.every((test) => test(labels));
}

/** True when the object is one of the selection. Field selectors know `metadata.name`, `.namespace` and plain string paths. */
export function selects(selection: Selection): (object: StoredObject) => boolean {
  const labels = labelTest(selection.labelSelector);
  const fields = fieldTest(selection.fieldSelector);
  return (object) =>
    (selection.namespace === undefined || object.metadata.namespace === selection.namespace) &&
    labels(object.metadata.labels ?? {}) &&
    fields(object);
}

function parseRequirement(text: string): Test {
  const match = requirement.exec(text);
  if (match === null) throw new ApiError(400, 'BadRequest', `unable to parse requirement: ${text}`);
  const [, not, key = '', operator, value = '', set, members = ''] = match;
  const values = members.split(',').map((member) => member.trim());
  if (set === 'in') return (labels) => values.includes(labels[key] ?? '\0');
  if (set === 'notin') return (labels) => !values.includes(labels[key] ?? '\0');
  if (operator === '!=') return (labels) => labels[key] !== value;
  if (operator !== undefined) return (labels) => labels[key] === value;
  return (labels) => key in labels !== (not === '!');
}

function splitOutsideParentheses(text: string): string[] {
  return text.split(/,(?![^(]*\))/);
}

function fieldTest(selector: string | undefined): (object: StoredObject) => boolean {
  if (selector === undefined || selector === '') return () => true;
  const tests = selector.split(',').map((part) => {
    const match = /^([^=!]+)(=|==|!=)(.*)$/.exec(part);
    if (match === null) throw new ApiError(400, 'BadRequest', `invalid field selector: ${part}`);
    const [, path = '', operator, value] = match;
    return (object: StoredObject) => (stringAt(object, path) === value) === (operator !== '!=');
  });
  return (object) => tests.every((test) => test(object));
}

function stringAt(object: unknown, path: string): string {
  let at: unknown = object;
  for (const step of path.split('.')) {
    at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[step] : undefined;
  }
  return typeof at === 'string' ? at : '';
}

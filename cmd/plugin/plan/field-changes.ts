import { isRecord } from '../../../api/structural/is-record.ts';
import { isSameJson } from './is-same-json.ts';
import { itemKeys } from './list-keys.ts';

/** One field that differs. Values are JSON; those of Secrets are not shown. */
export interface FieldChange {
  /** As `spec.template.spec.containers[kube-apiserver].image`. */
  readonly field: string;
  /** Absent if the field is new. For a list of texts: what is removed. */
  readonly before?: unknown;
  /** Absent if the field is removed. For a list of texts: what is added. */
  readonly after?: unknown;
}

/** What the API server keeps, or what follows from the rest. */
const ignored: ReadonlySet<string> = new Set([
  'status',
  'metadata.uid',
  'metadata.resourceVersion',
  'metadata.generation',
  'metadata.creationTimestamp',
  'metadata.managedFields',
]);

/** Stands for a value that is not shown. */
const hidden = '(not shown)';

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

const named = (path: string, key: string): string => {
  if (path === '') return key;
  return /^[A-Za-z0-9_]+$/.test(key) ? `${path}.${key}` : `${path}[${key}]`;
};

function compare(before: unknown, after: unknown, path: string, field: string): readonly FieldChange[] {
  if (ignored.has(path) || isSameJson(before, after)) return [];
  if (isRecord(before) && isRecord(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => compare(before[key], after[key], named(path, key), key));
  }
  if (isTexts(before) && isTexts(after)) {
    const [gone, added] = [
      before.filter((item) => !after.includes(item)),
      after.filter((item) => !before.includes(item)),
    ];
    // The same texts in another order.
    if (gone.length === 0 && added.length === 0) return [{ field: path, before, after }];
    return [{ field: path, before: gone, after: added }];
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const [beforeKeys, afterKeys] = [itemKeys(field, before), itemKeys(field, after)];
    if (beforeKeys !== undefined && afterKeys !== undefined) {
      const items = [...new Set([...beforeKeys, ...afterKeys])].flatMap((key) => {
        const [old, now] = [before[beforeKeys.indexOf(key)] as unknown, after[afterKeys.indexOf(key)] as unknown];
        return compare(old, now, `${path}[${key.replace(/\/TCP$/, '')}]`, '');
      });
      // The same items in another order.
      if (items.length > 0) return items;
    }
  }
  return [
    {
      field: path,
      ...(before !== undefined && { before }),
      ...(after !== undefined && { after }),
    },
  ];
}

/** The fields in which two versions of an object differ, without what the API server keeps. */
export function fieldChanges(before: object, after: object): readonly FieldChange[] {
  const isSecret = (before as { readonly kind?: unknown }).kind === 'Secret';
  const changes = compare(before, after, '', '');
  if (!isSecret) return changes;
  return changes.map((change) =>
    /^(data|stringData)\b/.test(change.field)
      ? {
          field: change.field,
          ...('before' in change && { before: hidden }),
          ...('after' in change && { after: hidden }),
        }
      : change,
  );
}

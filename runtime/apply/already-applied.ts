import type { Draft, Manifest, Resource } from '../../api/meta.ts';
import { sameJson } from '../client/merge-patch-of.ts';
import { asStored } from './as-stored.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * True if applying the manifest would change nothing: the field manager owns exactly the fields of the manifest, and each has its
 * value. The object must be as the API server returned it, managedFields included. If in doubt, it is false: a value that the API
 * server writes in another form, a field that it does not return, and a list whose items cannot be told apart count as different.
 */
export function isAlreadyApplied(live: Resource, manifest: Manifest, fieldManager: string): boolean {
  const { apiVersion, kind, metadata } = manifest;
  if (live.metadata.deletionTimestamp !== undefined) return false;
  const isThis =
    live.apiVersion === apiVersion &&
    live.kind === kind &&
    live.metadata.name === metadata.name &&
    (live.metadata.namespace ?? '') === (metadata.namespace ?? '');
  const owned = isThis ? appliedFields(live, fieldManager) : undefined;
  return owned !== undefined && hasFields(ownable(asStored(manifest)), ownable(live), owned);
}

/** The fields that were applied under this name, as `fieldsV1`; undefined when there are none, or those of another version. */
function appliedFields({ apiVersion, metadata }: Resource, fieldManager: string): Fields | undefined {
  const all: unknown = metadata.managedFields;
  const own = (Array.isArray(all) ? (all as readonly unknown[]) : []).filter(
    (entry): entry is Fields =>
      isFields(entry) &&
      entry.manager === fieldManager &&
      entry.operation === 'Apply' &&
      (entry.subresource ?? '') === '',
  );
  const [entry, ...more] = own;
  if (entry?.apiVersion !== apiVersion || more.length > 0) return undefined;
  return isFields(entry.fieldsV1) ? entry.fieldsV1 : undefined;
}

/** What of an object can have an owner. */
function ownable(object: Draft): Fields {
  const content = without(object, ['apiVersion', 'kind', 'metadata']);
  const about = without(object.metadata, ['name', 'namespace']);
  return Object.keys(about).length === 0 ? content : { ...content, metadata: about };
}

function without(object: object, names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

/** Whether `owned` names exactly the fields of `wanted`, and `live` has all of them with these values. */
function hasFields(wanted: unknown, live: unknown, owned: Fields): boolean {
  if (!isFields(wanted) || !isFields(live)) return false;
  const names = Object.keys(wanted);
  return (
    names.length === Object.keys(owned).length &&
    names.every((name) => {
      const own = fieldOf(owned, `f:${name}`);
      return isFields(own) && hasValue(fieldOf(wanted, name), fieldOf(live, name), own);
    })
  );
}

function hasValue(wanted: unknown, live: unknown, owned: Fields): boolean {
  // A value without parts, or one that is only replaced as a whole.
  if (Object.keys(owned).length === 0) return wanted !== null && sameJson(wanted, live);
  return Array.isArray(wanted) ? hasItems(wanted, live, owned) : hasFields(wanted, live, owned);
}

/** The same for a list whose items have owners: by their keys (`k:`), or as the members of a set (`v:`). */
function hasItems(wanted: readonly unknown[], live: unknown, owned: Fields): boolean {
  const steps = Object.keys(owned);
  if (!Array.isArray(live) || wanted.length !== steps.length) return false;
  const items = live as readonly unknown[];
  let previous = -1;
  const seen = new Set<string>();
  return wanted.every((item) => {
    const found = steps.filter((step) => isItem(item, step));
    const [step = ''] = found;
    const places = items.flatMap((one, n) => (isItem(one, step, true) ? [n] : []));
    const [place = -1] = places;
    // Applying would bring the items into the order of the manifest.
    if (found.length !== 1 || seen.has(step) || places.length !== 1 || place < previous) return false;
    seen.add(step);
    previous = place;
    return step.startsWith('v:') || isOwnedItem(fieldOf(owned, step), item, items[place]);
  });
}

function isOwnedItem(owned: unknown, wanted: unknown, live: unknown): boolean {
  if (!isFields(owned)) return false;
  // Such as an owner reference, which is only replaced as a whole.
  if (Object.keys(owned).length === 0) return sameJson(wanted, live);
  if (!isFields(owned['.'])) return false;
  return hasFields(wanted, live, Object.fromEntries(Object.entries(owned).filter(([step]) => step !== '.')));
}

/** Whether a step means this item. An item of a manifest may lack keys that have a default; a stored one has all. */
function isItem(item: unknown, step: string, isStored = false): boolean {
  const named = parsed(step.slice(2));
  if (step.startsWith('v:')) return named !== undefined && sameJson(item, named);
  if (!step.startsWith('k:') || !isFields(named) || !isFields(item)) return false;
  return Object.entries(named).every(([key, value]) =>
    Object.hasOwn(item, key) ? sameJson(item[key], value) : !isStored,
  );
}

/** Undefined for what is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Own fields only: every object inherits some, such as `constructor`. */
function fieldOf(fields: Fields, key: string): unknown {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import type { Key } from '../../../../api/meta.ts';

/** A DataStore that was chosen, while caches may not show it yet. */
export interface Chosen {
  /** Of the tenant. */
  readonly uid: string;
  readonly key: Key;
  readonly store: string;
  /** True when the tenant has no DataStore yet. */
  readonly isFirst: boolean;
  /** The DataStore that the tenant leaves. */
  readonly leaves?: string;
}

/** One that is recorded for other managers. */
export interface SharedChoice extends Chosen {
  /** The manager that chose. */
  readonly by: string;
  /** When, in milliseconds since the epoch by its own clock: tells its choices apart, and is compared with no other clock. */
  readonly at: number;
}

/** What managers that share tenants have chosen lately. */
export interface ChoicesRecord {
  /** The version of a TenantControlPlane that the cache of whoever chooses must have reached: choices up to it are no longer listed. */
  readonly floor: string;
  readonly choices: readonly SharedChoice[];
}

const nothing: ChoicesRecord = { floor: '0', choices: [] };

/** Throws for a text that this version cannot read: a choice that ignores others could overfill a DataStore. */
export function parseChoices(text: string | undefined): ChoicesRecord {
  if (text === undefined) return nothing;
  const value: unknown = JSON.parse(text);
  if (isRecord(value)) return value;
  throw new Error('the record of chosen DataStores cannot be read: another version of the manager has written it');
}

/** The inverse of `parseChoices`. */
export const printChoices = (record: ChoicesRecord): string => JSON.stringify(record);

function isRecord(value: unknown): value is ChoicesRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (!('floor' in value) || typeof value.floor !== 'string' || !/^\d+$/.test(value.floor)) return false;
  return 'choices' in value && Array.isArray(value.choices) && value.choices.every(isChoice);
}

function isChoice(value: unknown): value is SharedChoice {
  if (typeof value !== 'object' || value === null) return false;
  const hasTexts = ['uid', 'store', 'by'].every((field) => typeof Reflect.get(value, field) === 'string');
  return hasTexts && 'key' in value && typeof value.key === 'object' && 'at' in value && typeof value.at === 'number';
}

import { isRecord } from '../../../api/structural/is-record.ts';

/**
 * What must not change, as it was before the import. It is written before anything else and compared at the end, also by another run of
 * the command.
 */
export interface ImportRecord {
  /** When the control plane was paused for the former manager (RFC 3339). */
  readonly since: string;
  readonly endpoint: string;
  /** SHA-256 of the certificate of the CA, and of the public service-account key, in hex. */
  readonly ca: string;
  readonly serviceAccountKey: string;
  readonly dataStore: string;
  readonly schema: string;
  readonly user: string;
  /** UID of the namespace `kube-system` inside the tenant, if its API server could be reached. */
  readonly inside?: string;
  /** When the Service had stopped leading to the former pods (RFC 3339). */
  readonly drained?: string;
}

const required = ['since', 'endpoint', 'ca', 'serviceAccountKey', 'dataStore', 'schema', 'user'] as const;
const optional = ['inside', 'drained'] as const;

/** Reads a record from an annotation; undefined if there is none, or if it was changed and cannot be read. */
export function readImportRecord(text: string | undefined): ImportRecord | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isImportRecord(value) ? value : undefined;
}

function isImportRecord(value: unknown): value is ImportRecord {
  if (!isRecord(value)) return false;
  const isText = (name: string): boolean => typeof value[name] === 'string';
  if (!required.every(isText) || !optional.every((name) => value[name] === undefined || isText(name))) return false;
  return !Number.isNaN(Date.parse(String(value.since)));
}

/** The record as an annotation holds it. */
export function importRecordText(record: ImportRecord): string {
  return JSON.stringify(record);
}

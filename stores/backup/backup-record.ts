import { JsonFields } from './json-fields.ts';

/** A chunk of a backup. */
export interface ChunkRecord {
  /** Its name below `chunks/`. */
  readonly name: string;
  readonly keys: number;
}

/** One backup: everything that a control plane had at one revision. */
export interface BackupRecord {
  readonly format: 1;
  /** When the revision had been read, in RFC 3339 with milliseconds: nothing that was written later is contained. */
  readonly at: string;
  /** Names the datastore whose revisions these are: its DataStore's UID. */
  readonly store: string;
  /** The folder of the changes that were followed since, below `changes/`. */
  readonly run: string;
  /** The revision of the datastore: every change up to it is contained. */
  readonly revision: string;
  /** In the order of their keys. */
  readonly chunks: readonly ChunkRecord[];
  readonly keys: number;
  /** Bytes of the values. */
  readonly bytes: number;
  /** Checksum over the keys that stay; see `ContentFingerprint`. */
  readonly fingerprint: string;
  /** Objects of the management cluster that belong to the control plane. */
  readonly objects: readonly BackedUpObject[];
}

/** A Kubernetes object as it is applied to create it again. */
export type BackedUpObject = Readonly<Record<string, unknown>>;

/** Where backups, chunks and changes are. */
export const folders = { backups: 'backups/', chunks: 'chunks/', changes: 'changes/' } as const;

/** A moment as a part of a name: sorts as the moments do. */
export function nameOfMoment(at: string): string {
  return at.replaceAll(/[-:]/g, '');
}

/** Reads a record. Throws `RepositoryError` for another format, and for what is no record. */
export function parseBackup(name: string, content: Uint8Array): BackupRecord {
  const record = JsonFields.of(name, Buffer.from(content).toString());
  return {
    format: 1,
    at: record.text('at'),
    store: record.text('store'),
    run: record.text('run'),
    revision: record.revision('revision').toString(),
    chunks: record.list('chunks').map((chunk) => ({ name: chunk.text('name'), keys: chunk.count('keys') })),
    keys: record.count('keys'),
    bytes: record.count('bytes'),
    fingerprint: record.text('fingerprint'),
    objects: record.list('objects').map(({ fields }) => fields),
  };
}

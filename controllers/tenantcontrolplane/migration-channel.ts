import type { Job } from '../../api/core/kinds.ts';
import { annotations } from '../../api/names.ts';
import type { MigrationRecord } from '../../stores/migration/migration-journal.ts';
import type { MigrationProgress } from '../../stores/migration/migration-progress.ts';

/**
 * What the process of a migration and the controller tell each other: annotations of the Job, which outlive both. The process
 * writes journal, progress, failure and the wish for the freeze; the controller writes that it is in force, and the wish to end.
 */
export interface MigrationChannel {
  /** When the migration began that the Job is of. */
  readonly started: string | undefined;
  readonly journal: MigrationRecord | undefined;
  readonly progress: MigrationProgress | undefined;
  /** Why the process has given up although another try would not help. */
  readonly failure: string | undefined;
  /** What the last process ended with, although it is tried again. */
  readonly problem: string | undefined;
  /** The process' present wish to have writes denied. */
  readonly freezeWanted: string | undefined;
  /** The wish that is fulfilled. */
  readonly freezeInForce: string | undefined;
  /** Why the process is to undo what it did. */
  readonly cancel: string | undefined;
}

/** Reads the annotations of a Job. What is no JSON counts as absent: nobody else has a reason to write there. */
export function readChannel({ metadata }: Pick<Job, 'metadata'>): MigrationChannel {
  const said = metadata.annotations ?? {};
  return {
    started: said[annotations.migrationStarted],
    journal: parsed(said[annotations.migrationJournal]) as MigrationRecord | undefined,
    progress: parsed(said[annotations.migrationProgress]) as MigrationProgress | undefined,
    failure: said[annotations.migrationFailure],
    problem: said[annotations.migrationProblem],
    freezeWanted: said[annotations.migrationFreezeWanted],
    freezeInForce: said[annotations.migrationFreezeInForce],
    cancel: said[annotations.migrationCancel],
  };
}

/** Both ends are of one version; a person who writes there is stopped by the journal's own check. */
function parsed(text: string | undefined): object | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'phase' in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The patch that writes annotations of an object; undefined takes one away. */
export function annotationsPatch(values: Readonly<Record<string, string | undefined>>): {
  readonly type: 'merge';
  readonly body: { readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> } };
} {
  const written = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value ?? null]));
  return { type: 'merge', body: { metadata: { annotations: written } } };
}

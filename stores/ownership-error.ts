import type { Tenancy } from './driver.ts';
import { StoreError } from './store-error.ts';

/** What a driver read about the owner of a tenancy's names. */
interface Recorded {
  readonly is: string;
  /** UID of the owner; unknown when the record was created or deleted in between. */
  readonly owner?: string | undefined;
}

/** The error for names that are recorded for another owner. */
export function foreignError({ schema, user, owner }: Tenancy, recorded: Recorded): StoreError {
  const holder = recorded.owner ?? 'unknown';
  return new StoreError(
    'OwnedByAnother',
    `schema ${schema} or user ${user} belongs to the owner with UID ${holder}, not to ${owner}: choose other names`,
  );
}

/** The error for what exists in a datastore under the tenancy's names without a recorded owner. */
export function unrecordedError({ owner }: Tenancy, store: string, found: readonly string[]): StoreError {
  const exist = found.length === 1 ? 'exists' : 'exist';
  const help = 'choose other names, remove what is there, or adopt it explicitly';
  return new StoreError(
    'OwnedByAnother',
    `${found.join(', ')} ${exist} in ${store} without a recorded owner (requested by ${owner}): ${help}`,
  );
}

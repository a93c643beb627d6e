import type { Tenancy } from './driver.ts';
import { StoreError } from './store-error.ts';

/** What a driver read about the owner of a tenancy's names. */
interface Recorded {
  readonly is: string;
  /** UID of the owner; none is known when the record came or went in between. */
  readonly owner?: string | undefined;
}

/** Refuses names that are recorded as another owner's. */
export function foreignError({ schema, user, owner }: Tenancy, recorded: Recorded): StoreError {
  const holder = recorded.owner ?? 'somebody else';
  return new StoreError(
    'OwnedByAnother',
    `schema ${schema} or user ${user} belongs to the owner with UID ${holder}, not to ${owner}: choose other names`,
  );
}

/** Refuses what was found in a store under the tenancy's names, and nobody is recorded as its owner. */
export function unrecordedError({ owner }: Tenancy, store: string, found: readonly string[]): StoreError {
  const exist = found.length === 1 ? 'exists' : 'exist';
  const help = 'choose other names, remove what is there, or adopt it explicitly';
  return new StoreError(
    'OwnedByAnother',
    `${found.join(', ')} ${exist} in ${store} without a recorded owner (asked for by ${owner}): ${help}`,
  );
}

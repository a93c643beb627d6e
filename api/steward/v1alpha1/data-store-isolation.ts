import type { Infer } from '../../schema.ts';
import { described, int32, obj, opt, str, time } from '../../schema.ts';

/** What the last verification of a datastore's isolation found. */
export const dataStoreIsolationStatus = obj({
  time: described(time(), 'Time of the verification.'),
  serverVersion: described(str(), 'Version that the datastore reported at that time.'),
  attempts: described(int32(), 'Number of attempts of one canary tenancy on another one and on the server.'),
  breach: opt(described(str(), 'What the datastore allowed first. Unset if it allowed nothing.')),
});
export type DataStoreIsolationStatus = Infer<typeof dataStoreIsolationStatus>;

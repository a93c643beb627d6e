import type { Infer } from '../../schema.ts';
import { bool, described, int64, obj, opt, quantity, time } from '../../schema.ts';

/** What a tenant with a quota stores. */
export const quotaStatus = obj({
  hard: described(
    obj({
      dataSize: opt(described(quantity(), 'Limit of the bytes of all keys with their newest values.')),
      objects: opt(described(int64(), 'Limit of the number of keys.')),
    }),
    'The limits, as in the spec when this was written.',
  ),
  used: opt(
    described(
      obj({
        dataSize: described(quantity(), 'Bytes of all keys with their newest values.'),
        objects: described(int64(), 'Number of keys.'),
      }),
      'What the tenant stores. Absent before it was measured for the first time.',
    ),
  ),
  measuredTime: opt(described(time(), 'Time at which `used` was measured. Small changes are recorded with a delay.')),
  blocked: described(bool(), 'True while the API server of the tenant denies creations and changes.'),
});
export type QuotaStatus = Infer<typeof quotaStatus>;

import type { Infer } from '../../schema.ts';
import { bool, described, int64, list, obj, oneOf, opt, quantity, time } from '../../schema.ts';

/** What a tenant with a quota stores and writes. */
export const quotaStatus = obj({
  hard: described(
    obj({
      dataSize: opt(described(quantity(), 'Limit of the bytes of all keys with their newest values.')),
      objects: opt(described(int64(), 'Limit of the number of keys.')),
      writesPerSecond: opt(described(int64(), 'Limit of the writes a second.')),
    }),
    'The limits, as in the spec when this was written.',
  ),
  used: opt(
    described(
      obj({
        dataSize: opt(described(quantity(), 'Bytes of all keys with their newest values.')),
        objects: opt(described(int64(), 'Number of keys.')),
        writesPerSecond: opt(described(int64(), 'Writes a second, on average over about a minute.')),
      }),
      'What the tenant stores, if that is limited, and writes, if that is. Absent before it was measured for the first time.',
    ),
  ),
  measuredTime: opt(
    described(
      time(),
      'Time at which `used` was measured; of two measurements, the earlier one. Small changes are recorded with a delay.',
    ),
  ),
  blocked: described(bool(), 'True while the API server of the tenant denies creations and changes.'),
  reached: opt(
    described(
      list(oneOf('dataSize', 'objects', 'writesPerSecond')),
      'The limits that the tenant has reached while it is blocked.',
    ),
  ),
  overdrawn: opt(
    described(
      bool(),
      'True while renewals of leases and scaling are denied as well, except for nodes and the control plane: the tenant went on to write far more than `writesPerSecond` allows.',
    ),
  ),
});
export type QuotaStatus = Infer<typeof quotaStatus>;

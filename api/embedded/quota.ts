import { described, int32, int64, obj, opt, quantity } from '../schema.ts';

/** Limits of what a tenant stores and writes, in the `spec` of both kinds. */
export const tenantQuota = obj(
  {
    dataSize: opt(
      described(
        quantity(),
        'Limit of the bytes of all keys with their newest values, e.g. `500Mi`, without history, indexes and free space.',
      ),
    ),
    objects: opt(described(int64({ minimum: 1 }), 'Limit of the number of keys. Each object is one key.')),
    writesPerSecond: opt(
      described(
        int32({ minimum: 10 }),
        'Limit of the writes a second on average, of which those of a minute may come at once. All writes to the datastore count: creations, changes and deletions, those of nodes and controllers, and Events that expire. Less than 10 would block a tenant by what its own components write.',
      ),
    ),
    warnAtPercent: opt(
      described(int32({ minimum: 1, maximum: 100 }), 'Percentage of a limit from which on the tenant is reported.'),
      80,
    ),
  },
  {
    rule: 'has(self.dataSize) || has(self.objects) || has(self.writesPerSecond)',
    message: 'a quota needs dataSize, objects or writesPerSecond',
  },
);

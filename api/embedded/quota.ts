import { described, int32, int64, obj, opt, quantity } from '../schema.ts';

/** Limits of what a tenant stores, in the `spec` of both kinds. */
export const tenantQuota = obj(
  {
    dataSize: opt(
      described(
        quantity(),
        'Limit of the bytes of all keys with their newest values, e.g. `500Mi`, without history, indexes and free space.',
      ),
    ),
    objects: opt(described(int64({ minimum: 1 }), 'Limit of the number of keys. Each object is one key.')),
    warnAtPercent: opt(
      described(int32({ minimum: 1, maximum: 100 }), 'Percentage of a limit from which on the tenant is reported.'),
      80,
    ),
  },
  { rule: 'has(self.dataSize) || has(self.objects)', message: 'a quota needs dataSize, objects or both' },
);

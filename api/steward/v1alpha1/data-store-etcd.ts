import type { CelRule, Infer } from '../../schema.ts';
import { described, int32, int64, listMap, obj, opt, quantity, str, time } from '../../schema.ts';

const defragmentation = obj({
  freePercent: opt(
    described(int32({ minimum: 10, maximum: 90 }), 'Free part of a file, in percent, at which it is defragmented.'),
    45,
  ),
  minimumSize: opt(described(quantity(), 'Size below which a file is not defragmented.'), '100Mi'),
  maximumPauseSeconds: opt(
    described(
      int32({ minimum: 1, maximum: 20 }),
      'A member that defragmentation would block for longer is left alone. Writes through a blocked member fail after 7 seconds.',
    ),
    5,
  ),
});
export type DataStoreDefragmentation = Infer<typeof defragmentation>;

/** What Steward does for an etcd that tenants share. */
export const dataStoreEtcd = obj({
  defragmentation: opt(
    described(
      defragmentation,
      'Returns free space in the files of the members to the disk: one member at a time, the leader last, and only while all members are healthy and listed in `spec.endpoints`. Each member is defragmented at most once an hour. If the quota was used up, writes are allowed again once space is free. If unset, nothing is defragmented.',
    ),
  ),
});

/** Rules of the spec of a DataStore. */
export const dataStoreEtcdRules: readonly CelRule[] = [
  {
    rule: 'has(self.etcd) ? self.driver == "etcd" : true',
    message: 'etcd is supported only with driver etcd: remove etcd',
  },
];

const defragmentedMember = obj({
  endpoint: described(str(), 'Member, as in `spec.endpoints`.'),
  time: described(time(), 'Time of the last defragmentation of the member.'),
  sizeBytes: described(int64(), 'Size of the file after the defragmentation.'),
  freedBytes: described(int64(), 'Number of bytes that were freed.'),
  pauseMilliseconds: described(int32(), 'Time for which the member did not respond.'),
});
export type DefragmentedMember = Infer<typeof defragmentedMember>;

/** What only an etcd cluster reports. */
export const dataStoreEtcdStatus = obj({
  storageVersion: opt(
    described(
      str(),
      'Minor version of etcd whose format the data has, e.g. `3.6`; the lowest of all members. etcd raises it once all members run a newer version.',
    ),
  ),
  defragmented: opt(
    described(
      listMap(defragmentedMember, ['endpoint']),
      'Last defragmentation of each member. Unset if `spec.etcd.defragmentation` is unset.',
    ),
  ),
});

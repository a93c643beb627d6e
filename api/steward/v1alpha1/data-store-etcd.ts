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

const compaction = obj({
  usedPercent: opt(
    described(
      int32({ minimum: 10, maximum: 80 }),
      'Part of the quota, in percent, that is in use when history is compacted early.',
    ),
    40,
  ),
  historySeconds: opt(
    described(
      int32({ minimum: 3, maximum: 300 }),
      'Time for which history is kept. Less is kept as the quota is used up, but at least 3 seconds.',
    ),
    30,
  ),
});
export type DataStoreCompaction = Infer<typeof compaction>;

/** What Steward does for an etcd that tenants share. */
export const dataStoreEtcd = obj({
  compaction: opt(
    described(
      compaction,
      'Compacts history early when it uses up the quota of a member (`--quota-backend-bytes`), so that etcd goes on accepting writes from all tenants. Otherwise, etcd compacts only by itself. If unset, history is never compacted early.',
    ),
  ),
  defragmentation: opt(
    described(
      defragmentation,
      'Returns free space in the files of the members to the disk: one member at a time, the leader last, and only while all members are healthy and listed in `spec.endpoints`. Each member is defragmented at most once an hour while etcd accepts writes. If the quota was used up, writes are allowed again once space is free. If unset, nothing is defragmented.',
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

const compacted = obj({
  endpoint: described(str(), 'Member with the least room, as in `spec.endpoints`.'),
  time: described(time(), 'Time of the compaction.'),
  inUseBytes: described(int64(), 'Number of bytes in use before the compaction.'),
  historySeconds: described(int32(), 'History that was kept, in seconds.'),
});
export type EarlyCompactionStatus = Infer<typeof compacted>;

/** What only an etcd cluster reports. */
export const dataStoreEtcdStatus = obj({
  storageVersion: opt(
    described(
      str(),
      'Minor version of etcd whose format the data has, e.g. `3.6`; the lowest of all members. etcd raises it once all members run a newer version.',
    ),
  ),
  compacted: opt(
    described(compacted, 'Last early compaction. Unset before the first one, and if `spec.etcd.compaction` is unset.'),
  ),
  defragmented: opt(
    described(
      listMap(defragmentedMember, ['endpoint']),
      'Last defragmentation of each member. Unset if `spec.etcd.defragmentation` is unset.',
    ),
  ),
});

import { parseBackup } from '../../../stores/backup/backup-record.ts';
import { RepositoryError } from '../../../stores/backup/backup-repository.ts';
import { decodeEntries, encodeEntries } from '../../../stores/backup/change-coding.ts';
import { decodeSegment, encodeSegment } from '../../../stores/backup/change-segment.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const entry = { key: 'pods/a', value: Buffer.from('a') };
const entries = [entry, { key: 'leases/b', value: Buffer.from('b'), ttlMs: 9000 }];
const record = {
  ...{ format: 1, at: '2026-01-02T03:04:05.678Z', store: 'uid', run: 'r', revision: '7', keys: 2, bytes: 2 },
  ...{ chunks: [{ name: 'c', keys: 2 }], fingerprint: 'f', objects: [] },
};
const changes = [{ is: 'put', entry } as const, { is: 'deleted', key: 'pods/b' } as const];

/** The files of a backup, opened with its key: an entry that is chosen by the first byte. */
export const backupFiles: FuzzTarget = {
  name: 'backup-files',
  from: 'whoever has the key of a backup and may write to its bucket',
  seeds: () => [
    Buffer.concat([Buffer.of(0), encodeEntries(entries)]),
    Buffer.concat([
      Buffer.of(1),
      encodeSegment({ after: 5n, rounds: [{ at: '2026-01-02T03:04:05.678Z', revision: 7n, changes }] }),
    ]),
    Buffer.concat([Buffer.of(2), Buffer.from(JSON.stringify(record))]),
  ],
  refusals: [RepositoryError],
  parse: (input) => {
    const body = input.subarray(1);
    switch ((input[0] ?? 0) % 3) {
      case 0:
        kept(Buffer.compare(encodeEntries(decodeEntries(body)), body) === 0, 'entries are read as written');
        return;
      case 1:
        kept(decodeSegment('segment', body).after >= 0n, 'a segment begins after a revision');
        return;
      default: {
        const { chunks, objects, keys } = parseBackup('backup', body);
        kept(chunks.every(({ name }) => typeof name === 'string') && Array.isArray(objects), 'chunks and objects');
        kept(Number.isSafeInteger(keys), 'keys are counted');
      }
    }
  },
};

import { StoreError } from '../../store-error.ts';
import type { EtcdDataCalls, EtcdOperation } from './data-client.ts';

/** Concurrent writes: etcd writes them to its log together. */
const width = 128;

/** Writes between two checks of the progress and of the database size. */
const lookEvery = 2000;

/** Maximum number of revisions to raise: beyond an hour of writes, another way is better. */
const mostRevisions = 10_000_000n;

/** Bytes by which the database may grow meanwhile: a full one would accept no writes of any tenant. */
const mostGrowth = 512 * 1024 * 1024;

/** An etcd whose revision is raised. */
export interface RaisedEtcd {
  readonly data: Pick<EtcdDataCalls, 'touch'> & { write(operations: readonly EtcdOperation[]): Promise<unknown> };
  /** Bytes of the database. */
  size(): Promise<number>;
}

/**
 * Raises etcd's revision to at least `wanted` with one write per revision, the only way in etcd. `key` is overwritten repeatedly, and
 * deleted at the end. Each write costs about a hundred bytes until etcd compacts. `onProgress` is called every 2000 writes and stops the raise
 * by throwing; no write is in progress anymore when this rejects. Throws what `onProgress` throws, and `StoreError` Unsupported when the
 * distance is too large or etcd grows too much.
 */
export async function raiseRevision(
  etcd: RaisedEtcd,
  key: Buffer,
  span: { readonly from: bigint; readonly wanted: bigint },
  onProgress: (reached: bigint) => void = () => undefined,
): Promise<void> {
  let reached = span.from;
  if (reached >= span.wanted) return;
  refuseTooFar(span);
  const size = await etcd.size();
  let written = 0;
  let failed = false;
  const step = async (): Promise<void> => {
    const revision = await etcd.data.touch(key);
    if (revision > reached) reached = revision;
    written += 1;
    if (written % lookEvery > 0) return;
    onProgress(reached);
    refuseGrowth((await etcd.size()) - size);
  };
  const work = async (): Promise<void> => {
    try {
      while (reached < span.wanted && !failed) await step();
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: width }, work));
  const failure = ends.find((end) => end.status === 'rejected');
  const cleaned = etcd.data.write([{ is: 'delete', key }]);
  // The first failure says more; a key that stays is overwritten and deleted by the next raise.
  await (failure === undefined ? cleaned : cleaned.catch(() => undefined));
  if (failure !== undefined) throw failure.reason;
  onProgress(reached);
}

function refuseTooFar({ from, wanted }: { readonly from: bigint; readonly wanted: bigint }): void {
  if (wanted - from <= mostRevisions) return;
  throw new StoreError(
    'Unsupported',
    `etcd is at revision ${from} and would need ${wanted - from} writes to get above the revision of the other datastore; at most ${mostRevisions} are allowed: choose a datastore with a higher revision, or one that is not etcd`,
  );
}

function refuseGrowth(bytes: number): void {
  if (bytes <= mostGrowth) return;
  throw new StoreError(
    'Unsupported',
    `etcd grew by ${Math.round(bytes / 2 ** 20)} MiB while its revision was raised: enable compaction (--auto-compaction-mode=periodic --auto-compaction-retention=5m)`,
  );
}

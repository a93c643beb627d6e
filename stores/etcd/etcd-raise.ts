import { StoreError } from '../store-error.ts';
import type { EtcdDataCalls } from './etcd-data-client.ts';

/** Writes that are under way at once: etcd writes them to its log together. */
const width = 128;

/** Writes between two looks at how far it is, and at the size of the database. */
const lookEvery = 2000;

/** Revisions that are raised at most: above an hour's writes, another way is the better one. */
const mostRevisions = 10_000_000n;

/** Bytes by which the database may grow meanwhile: a full one would take no writes of any tenant. */
const mostGrowth = 512 * 1024 * 1024;

/** An etcd that is raised. */
export interface RaisedEtcd {
  readonly data: Pick<EtcdDataCalls, 'touch' | 'write'>;
  /** Bytes of the database. */
  size(): Promise<number>;
}

/**
 * Makes etcd's revision at least `wanted`, one write for each: etcd has no other way. `key` is written over and over, and
 * deleted at the end. Each write costs about a hundred bytes until etcd compacts. `tell` is called every 2000 writes and ends the
 * raise by throwing; nothing is under way any more when this rejects. Throws what `tell` throws, and `StoreError`, Unsupported
 * when it is too far or etcd grows too much.
 */
export async function raiseRevision(
  etcd: RaisedEtcd,
  key: Buffer,
  span: { readonly from: bigint; readonly wanted: bigint },
  tell: (reached: bigint) => void = () => undefined,
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
    tell(reached);
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
  tell(reached);
}

function refuseTooFar({ from, wanted }: { readonly from: bigint; readonly wanted: bigint }): void {
  if (wanted - from <= mostRevisions) return;
  throw new StoreError(
    'Unsupported',
    `etcd is at revision ${from} and would need ${wanted - from} writes to come above the other store's: at most ${mostRevisions} are made; choose a store that is further on, or one that is not etcd`,
  );
}

function refuseGrowth(bytes: number): void {
  if (bytes <= mostGrowth) return;
  throw new StoreError(
    'Unsupported',
    `etcd grew by ${Math.round(bytes / 2 ** 20)} MiB while its revision was raised: let it compact (--auto-compaction-mode=periodic --auto-compaction-retention=5m)`,
  );
}

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../runtime/clock.ts';
import { startEtcdDataUnderTest } from '../../../testing/contracts/stores/etcd/data-under-test.ts';
import { MemoryTenancy } from '../../../testing/fake/memory-tenancy.ts';
import { startS3 } from '../../../testing/servers/s3/s3-server.ts';
import type { S3Server } from '../../../testing/servers/s3/s3-server.ts';
import { put } from '../../../testing/builders/put.ts';
import { describeBackup } from '../backup-contract.ts';
import { BackupKey } from '../backup-key.ts';
import { RepositoryError } from '../backup-repository.ts';
import type { BackupRepository } from '../backup-repository.ts';
import { followChanges } from '../follow-changes.ts';
import { lastRevision, readBackups } from '../kept-backups.ts';
import { pruneBackups } from '../prune-backups.ts';
import { chooseBackup, restoreBackup } from '../restore-backup.ts';
import { SealedFolder } from '../sealed-folder.ts';
import { takeBackup } from '../take-backup.ts';
import type { TakenBackup } from '../take-backup.ts';
import { openS3Client } from './s3-client.ts';
import { S3Repository } from './s3-repository.ts';

describeBackup(
  'etcd 3.7, to a bucket',
  () => startEtcdDataUnderTest('3.7'),
  async () => {
    const server = await startS3();
    const repository = open(server, await server.makeBucket());
    return {
      repository,
      [Symbol.asyncDispose]: async () => {
        repository[Symbol.dispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  },
);

function open(server: S3Server, bucket: string): S3Repository {
  const client = openS3Client(server.connection);
  return new S3Repository({ client, place: { bucket, prefix: 'eu' }, clock: systemClock, random: Math.random });
}

const never = new AbortController().signal;

describe('a backup in a bucket', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
  }, 120_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });

  const sealed = (repository: BackupRepository): SealedFolder =>
    new SealedFolder(repository, 'tenants/shop', new BackupKey(Buffer.alloc(32, 7).toString('base64')));

  /** A tenancy in memory with so many keys that their backup has several chunks. */
  function tenancy(): MemoryTenancy {
    const source = new MemoryTenancy({ most: 100 });
    for (let at = 0; at < 600; at += 1) source.tenantWrites(put(`pods/${at}`, `first ${at}`));
    return source;
  }

  const take = (source: MemoryTenancy, folder: SealedFolder): Promise<TakenBackup> =>
    takeBackup({
      data: source.open(),
      folder,
      clock: systemClock,
      objects: [],
      store: 'first',
      run: 'run',
      signal: never,
    });

  async function restored(folder: SealedFolder): Promise<MemoryTenancy> {
    const target = new MemoryTenancy({ most: 100 });
    const parts = { target: target.open(), store: 'other', folder, signal: never };
    await restoreBackup(parts, await chooseBackup(folder, undefined), undefined);
    return target;
  }

  test('does not exist when its process is killed before any of its writes; the next one finds what was written', async () => {
    const source = tenancy();
    for (let call = 1; ; call += 1) {
      using repository = open(server, await server.makeBucket());
      let calls = 0;
      const dying: BackupRepository = {
        read: (name) => repository.read(name),
        list: (prefix) => repository.list(prefix),
        remove: (name) => repository.remove(name),
        write: (name, content) => {
          calls += 1;
          return calls === call ? Promise.reject(new RepositoryError('killed')) : repository.write(name, content);
        },
      };
      const died = await take(source, sealed(dying)).then(
        () => false,
        () => true,
      );
      if (!died) {
        expect(call).toBeGreaterThan(3);
        break;
      }
      const folder = sealed(repository);
      expect(await readBackups(folder)).toEqual([]);
      const { newChunks, record } = await take(source, folder);
      expect(newChunks).toBe(record.chunks.length - (call - 1));
      expect((await restored(folder)).texts()).toEqual(source.texts());
    }
  });

  test('has every change when the server was killed and started again while they were followed', async () => {
    using repository = open(server, await server.makeBucket());
    const folder = sealed(repository);
    const source = tenancy();
    const { record } = await take(source, folder);
    const stop = new AbortController();
    const parts = { data: source.open(), folder, clock: systemClock, run: 'run', signal: stop.signal };
    const following = followChanges(parts, BigInt(record.revision));
    following.catch(() => undefined);
    await server.kill();
    source.tenantWrites(put('pods/written-meanwhile', 'x'));
    // It is asked to end while the server is away: what it has read is written when the server is back.
    stop.abort();
    await server.restart();
    expect(await following).toBe(source.revision);
    expect(await lastRevision(folder, record)).toBe(source.revision);
    expect((await restored(folder)).texts()).toEqual(source.texts());
  });

  test.each([undefined, 1])(
    'is pruned, and restored from the rest, where objects are locked for %p days',
    async (lockedDays) => {
      const bucket = await server.makeBucket({ ...(lockedDays !== undefined && { lockedDays }) });
      using repository = open(server, bucket);
      const folder = sealed(repository);
      const source = tenancy();
      await take(source, folder);
      source.tenantWrites(put('pods/1', 'changed'), put('pods/600', 'new'));
      await take(source, folder);
      expect(await pruneBackups(folder, 1)).toEqual({ removed: 1 });
      expect(await readBackups(folder)).toHaveLength(1);
      expect((await restored(folder)).texts()).toEqual(source.texts());
    },
  );
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DeleteObjectCommand, GetObjectCommand, ListObjectVersionsCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { randomUUID } from 'node:crypto';
import { repositoryOpener } from '../../../cmd/backup/open-repository.ts';
import type { OpenRepository } from '../../../cmd/backup/open-repository.ts';
import { backupFlags } from '../../../cmd/flags/backup-flags.ts';
import { readFlags } from '../../../cmd/flags/flags.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { shownS3Policy } from '../../../testing/servers/s3/s3-policy.ts';
import { startS3 } from '../../../testing/servers/s3/s3-server.ts';
import type { S3Server } from '../../../testing/servers/s3/s3-server.ts';
import { describeRepository } from '../repository-contract.ts';
import type { RepositoryUnderTest } from '../repository-contract.ts';
import { openS3Client } from './s3-client.ts';
import type { S3Connection } from './s3-client.ts';
import { S3Repository } from './s3-repository.ts';

/** A bucket of a real server, and the key of someone who has the permissions of the page about backups. */
async function startBucket({ lockedDays }: { readonly lockedDays?: number } = {}): Promise<RepositoryUnderTest> {
  const server = await startS3();
  const opened: S3Repository[] = [];
  const bucket = await server.makeBucket({ ...(lockedDays !== undefined && { lockedDays }) });
  const user = await server.makeUser();
  await server.setPolicy(bucket, await shownS3Policy(bucket, 'steward', user.accessKeyId));
  const open = (place: { readonly bucket: string; readonly prefix: string }): S3Repository => {
    const client = openS3Client({ ...server.connection, credentials: user });
    const repository = new S3Repository({ client, place, clock: systemClock, random: Math.random });
    opened.push(repository);
    return repository;
  };
  let made = 0;
  return {
    empty: () => {
      made += 1;
      const place = { bucket, prefix: `steward/${made}` };
      return Promise.resolve(() => open(place));
    },
    missing: () => open({ bucket: 'never-made', prefix: 'steward' }),
    // Lists are alike with and without object lock.
    ...(lockedDays !== undefined && { many: 50 }),
    [Symbol.asyncDispose]: async () => {
      for (const repository of opened) repository[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** The place and the server that a person chose, such as AWS; what was written is removed. */
async function chosenBucket(url: string): Promise<RepositoryUnderTest> {
  const flags = readFlags(backupFlags, [`--repository=${url}`]);
  const parts = { clock: systemClock, log: silent };
  const open = (repository: string): Promise<OpenRepository> =>
    repositoryOpener({ ...flags, repository }, process.env)(parts);
  const root = `${url}/contract-${randomUUID()}`;
  const whole = await open(url);
  const missing = await open(`s3://missing-${randomUUID()}`);
  const opened: OpenRepository[] = [];
  let made = 0;
  return {
    empty: async () => {
      made += 1;
      const one = await open(`${root}/${made}`);
      opened.push(one);
      return () => one;
    },
    missing: () => missing,
    [Symbol.asyncDispose]: async () => {
      for (const name of await whole.list(`${root.slice(url.length + 1)}/`)) await whole.remove(name);
      for (const one of [whole, missing, ...opened]) one[Symbol.dispose]?.();
    },
  };
}

const { STEWARD_TEST_S3: chosen = '' } = process.env;

describeRepository('a bucket, with the permissions of the page', () => startBucket());
if (chosen !== '') describeRepository(chosen, () => chosenBucket(chosen));
describeRepository('a bucket with object lock', () => startBucket({ lockedDays: 1 }));

describe('a repository in a bucket', () => {
  let server: S3Server;
  let bucket: string;
  beforeAll(async () => {
    server = await startS3();
    bucket = await server.makeBucket();
  }, 120_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  const open = (prefix: string, connection: S3Connection = server.connection): S3Repository =>
    new S3Repository({
      client: openS3Client(connection),
      place: { bucket, prefix },
      clock: systemClock,
      random: Math.random,
    });

  test('may fill the whole bucket', async () => {
    using repository = open('');
    await repository.write('whole/a', Buffer.from('x'));
    expect(await repository.list('whole/')).toEqual(['whole/a']);
  });

  test('sees neither another prefix nor objects that no repository can have', async () => {
    using repository = open('eu');
    using other = open('eu-2');
    const client = openS3Client(server.connection);
    await repository.write('a/b', Buffer.from('x'));
    await other.write('a/c', Buffer.from('x'));
    for (const Key of ['eu/a/folder/', 'eu/a/with space', 'eu/a/ä']) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: Buffer.of() }));
    }
    client.destroy();
    expect(await repository.list('a/')).toEqual(['a/b']);
  });

  test('removes nothing for good where objects are locked, whoever has its key', async () => {
    const locked = await server.makeBucket({ lockedDays: 1 });
    const user = await server.makeUser();
    await server.setPolicy(locked, await shownS3Policy(locked, 'steward', user.accessKeyId));
    const stolen = openS3Client({ ...server.connection, credentials: user });
    const owner = openS3Client(server.connection);
    const place = { bucket: locked, prefix: 'steward' };
    using repository = new S3Repository({ client: stolen, place, clock: systemClock, random: Math.random });
    for (const content of ['backup', 'forged']) await repository.write('a/b', Buffer.from(content));
    await repository.remove('a/b');
    expect(await repository.list('a/')).toEqual([]);
    const { Versions = [] } = await owner.send(new ListObjectVersionsCommand({ Bucket: locked }));
    const left: string[] = [];
    for (const { Key, VersionId } of Versions) {
      const version = { Bucket: locked, Key, VersionId };
      await expect(stolen.send(new DeleteObjectCommand(version))).rejects.toThrow('Access Denied');
      const { Body } = await owner.send(new GetObjectCommand(version));
      left.push((await Body?.transformToString()) ?? '');
    }
    expect(left.toSorted()).toEqual(['backup', 'forged']);
    owner.destroy();
  });

  test.each(['variables', 'a file'])('finds its credentials in %s, as other programs do', async (where) => {
    const { credentials, ...connection } = server.connection;
    const { accessKeyId, secretAccessKey } = credentials;
    const given: Readonly<Record<string, string>> =
      where === 'variables'
        ? { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey }
        : { AWS_SHARED_CREDENTIALS_FILE: await server.credentialsFile() };
    Object.assign(process.env, given);
    try {
      using repository = open(`credentials-${where.length}`, connection);
      await repository.write('a', Buffer.from('x'));
      expect(await repository.read('a')).toHaveLength(1);
    } finally {
      for (const name of Object.keys(given)) Reflect.deleteProperty(process.env, name);
    }
  });
});

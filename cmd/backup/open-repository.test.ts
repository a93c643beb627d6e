import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../runtime/observe/logger.ts';
import { FolderRepository } from '../../stores/backup/folder-repository.ts';
import { FakeClock } from '../../testing/fake/fake-clock.ts';
import { backupFlags } from '../flags/backup-flags.ts';
import { readFlags, UsageError } from '../flags/flags.ts';
import { repositoryOpener, s3ConnectionOf } from './open-repository.ts';
import type { OpenRepository, RepositoryFlags } from './open-repository.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'steward-repository-flags-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

type Environment = Readonly<Record<string, string>>;

const flagsOf = (...args: readonly string[]): RepositoryFlags => readFlags(backupFlags, args);
const connection = (args: readonly string[], environment: Environment = {}) =>
  s3ConnectionOf(flagsOf('--repository=s3://backups', ...args), environment);
const opened = (args: readonly string[], environment: Environment = {}): Promise<OpenRepository> =>
  repositoryOpener(flagsOf(...args), environment)({ clock: new FakeClock(), log: silent });
const refused = (...args: readonly string[]) => expect(() => repositoryOpener(flagsOf(...args), {}));

describe('where backups are', () => {
  test('is a folder, or a bucket', async () => {
    expect(await opened([`--repository=${root}`])).toBeInstanceOf(FolderRepository);
    const bucket = await opened(['--repository=s3://backups/eu', '--s3-region=eu-west-1']);
    expect(bucket).not.toBeInstanceOf(FolderRepository);
    bucket[Symbol.dispose]?.();
  });

  test('must be given, in one of the known forms', () => {
    refused().toThrow('expecting a value for --repository');
    refused('--repository=gs://bucket').toThrow('--repository takes a folder or s3://bucket/prefix, got "gs://bucket"');
    refused('--repository=s3:https://host/bucket').toThrow(UsageError);
    refused('--repository=s3://bucket/a b').toThrow('--repository: "s3://bucket/a b" is not a bucket for backups');
    refused(`--repository=${root}`, '--s3-endpoint=https://s3.example.com').toThrow(
      '--s3-endpoint is for s3://bucket/prefix, and --repository is a folder',
    );
  });
});

describe('how an S3 server is reached', () => {
  test('is left to the AWS SDK if nothing is configured', () => {
    expect(connection([])).toEqual({ pathStyle: false, allowHttp: false });
  });

  test('has the bucket in the path, and a region, as soon as there is an endpoint', () => {
    expect(connection(['--s3-endpoint=https://s3.example.com:9000/'])).toEqual({
      endpoint: 'https://s3.example.com:9000',
      region: 'us-east-1',
      pathStyle: true,
      allowHttp: false,
    });
    expect(connection(['--s3-endpoint=https://s3.example.com/a/s3/', '--s3-path-style=false'])).toMatchObject({
      endpoint: 'https://s3.example.com/a/s3',
      pathStyle: false,
    });
    expect(connection(['--s3-path-style=true']).pathStyle).toBe(true);
    expect(() => connection(['--s3-path-style=maybe'])).toThrow(
      '--s3-path-style takes auto, true or false, got "maybe"',
    );
  });

  test('comes from flags first, then from the variables that other programs know', () => {
    const environment = { AWS_ENDPOINT_URL: 'https://all.example.com', AWS_DEFAULT_REGION: 'eu-3' };
    expect(connection([], environment)).toMatchObject({ endpoint: 'https://all.example.com', region: 'eu-3' });
    const more = { ...environment, AWS_ENDPOINT_URL_S3: 'https://s3.example.com', AWS_REGION: 'eu-2' };
    expect(connection([], more)).toMatchObject({ endpoint: 'https://s3.example.com', region: 'eu-2' });
    expect(connection(['--s3-endpoint=https://flag.example.com', '--s3-region=eu-1'], more)).toMatchObject({
      endpoint: 'https://flag.example.com',
      region: 'eu-1',
    });
  });

  test.each([
    ['s3.example.com', 'takes a URL such as https://minio.example.com:9000'],
    ['ftp://s3.example.com', 'takes a URL such as https://minio.example.com:9000'],
    ['https://s3.example.com/?x=1', 'takes a URL such as https://minio.example.com:9000'],
    ['https://key:secret@s3.example.com', 'takes no credentials'],
    ['http://s3.example.com', 'has no TLS: use https://, or --s3-allow-http'],
  ])('is not %s', (endpoint, expected) => {
    expect(() => connection([`--s3-endpoint=${endpoint}`])).toThrow(expected);
    expect(() => connection([], { AWS_ENDPOINT_URL: endpoint })).toThrow(UsageError);
  });

  test('may be through a proxy, by the usual variables', () => {
    const environment = { https_proxy: 'http://proxy:3128', NO_PROXY: '.svc', HTTP_PROXY: '' };
    expect(connection([], environment).proxy).toEqual({ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: '.svc' });
  });

  test('does not repeat a secret in its refusal', () => {
    expect(() => connection(['--s3-endpoint=https://key:hidden@s3.example.com'])).not.toThrow('hidden');
  });

  test('may be without TLS where that is allowed', () => {
    expect(connection(['--s3-endpoint=http://s3:9000', '--s3-allow-http'])).toMatchObject({ allowHttp: true });
  });

  test('trusts the CAs of a file, which must contain at least one', async () => {
    const file = join(root, 'ca.crt');
    await writeFile(file, '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n');
    expect(connection([`--s3-ca-file=${file}`]).ca).toContain('BEGIN CERTIFICATE');
    await writeFile(file, 'no certificate');
    expect(() => connection([`--s3-ca-file=${file}`])).toThrow('--s3-ca-file: its CA has no certificate in PEM');
    expect(() => connection([`--s3-ca-file=${root}/none`])).toThrow('--s3-ca-file: ENOENT');
  });
});

import { CreateBucketCommand, PutBucketPolicyCommand, PutObjectLockConfigurationCommand } from '@aws-sdk/client-s3';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import { openS3Client } from '../../../stores/backup/s3/s3-client.ts';
import type { S3Connection } from '../../../stores/backup/s3/s3-client.ts';
import { answersOk } from '../answers-ok.ts';
import { freePorts } from '../free-ports.ts';
import { loopbackPair, serverCa } from '../server-certificates.ts';
import { serverFolder } from '../server-folder.ts';
import { startServerProcess } from '../server-process.ts';
import type { ServerProcess } from '../server-process.ts';

const run = promisify(execFile);

/** A key of a user of the server. */
type S3Credentials = NonNullable<S3Connection['credentials']>;

/** A real S3 server, versitygw, on 127.0.0.1. */
export interface S3Server extends AsyncDisposable {
  readonly port: number;
  /** How its owner reaches it. */
  readonly connection: S3Connection & { readonly credentials: S3Credentials; readonly ca: string };
  /** Makes a bucket. `lockedDays`: whatever is written cannot be changed for so long, but by a new version. */
  makeBucket(options?: { readonly lockedDays?: number }): Promise<string>;
  /** Makes a user who may do nothing but what policies of buckets say. */
  makeUser(): Promise<S3Credentials>;
  setPolicy(bucket: string, policy: object): Promise<void>;
  /** A file with the key of its owner, as the programs of AWS read it. */
  credentialsFile(): Promise<string>;
  /** SIGKILL; the objects stay. */
  kill(): Promise<void>;
  /** Starts it again, and waits until it serves. */
  restart(): Promise<void>;
}

const newCredentials = (): S3Credentials => {
  return { accessKeyId: `key-${randomBytes(6).toString('hex')}`, secretAccessKey: randomBytes(16).toString('hex') };
};

const region = 'eu-test-1';

/**
 * Starts the pinned versitygw on a free port of 127.0.0.1, with TLS unless an option says otherwise, and waits until it serves. It dies with
 * this process; disposing kills it and removes its files. Throws with the end of its log when it does not start.
 */
export async function startS3({ hasTls = true } = {}): Promise<S3Server> {
  const { versitygw: program } = await resolveTools(['versitygw']);
  const folder = await serverFolder();
  const at = (name: string): string => join(folder.path, name);
  const owner = newCredentials();
  const ca = await serverCa('s3-ca');
  const pair = await loopbackPair(ca, 's3');
  const [port = 0] = await freePorts(1);
  const endpoint = `${hasTls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const folders = { objects: at('objects'), metadata: at('metadata'), versions: at('versions'), users: at('users') };
  let server: ServerProcess | undefined;
  const start = async (): Promise<void> => {
    const started = await startServerProcess({
      program,
      programArguments: [
        ...['--port', `127.0.0.1:${port}`, '--region', region, '--health', '/healthz', '--iam-dir', folders.users],
        ...(hasTls ? ['--cert', at('tls.crt'), '--key', at('tls.key')] : []),
        ...['posix', '--sidecar', folders.metadata, '--versioning-dir', folders.versions, folders.objects],
      ],
      // Not in the arguments, which every user of the machine sees.
      environment: { ROOT_ACCESS_KEY: owner.accessKeyId, ROOT_SECRET_KEY: owner.secretAccessKey },
      log: at('s3.log'),
    });
    server = started;
    await started.until(() => answersOk(`${endpoint}/healthz`, { ca: ca.certificate }), 30_000);
  };
  const stop = async (): Promise<void> => {
    await server?.kill();
    await folder[Symbol.asyncDispose]();
  };
  const connection = {
    endpoint,
    region,
    pathStyle: true,
    ca: ca.certificate,
    allowHttp: !hasTls,
    credentials: owner,
  } as const;
  const client = openS3Client(connection);
  try {
    await Promise.all(Object.values(folders).map((path) => mkdir(path)));
    await writeFile(at('ca.crt'), ca.certificate);
    await writeFile(at('tls.crt'), pair.certificate);
    await writeFile(at('tls.key'), pair.key, { mode: 0o600 });
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    connection,
    async makeBucket({ lockedDays } = {}) {
      const Bucket = `backups-${randomBytes(6).toString('hex')}`;
      await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: lockedDays !== undefined }));
      if (lockedDays !== undefined) {
        const Rule = { DefaultRetention: { Mode: 'COMPLIANCE', Days: lockedDays } } as const;
        const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const;
        await client.send(new PutObjectLockConfigurationCommand({ Bucket, ObjectLockConfiguration }));
      }
      return Bucket;
    },
    async makeUser() {
      const user = newCredentials();
      const words = ['admin', '--endpoint-url', endpoint, '--region', region, 'create-user', '--role', 'user'];
      const environment = {
        ADMIN_ACCESS_KEY_ID: owner.accessKeyId,
        ADMIN_SECRET_ACCESS_KEY: owner.secretAccessKey,
        SSL_CERT_FILE: at('ca.crt'),
      };
      await run(program, [...words, '--access', user.accessKeyId, '--secret', user.secretAccessKey], {
        env: environment,
        timeout: 20_000,
      });
      return user;
    },
    async setPolicy(Bucket, policy) {
      await client.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify(policy) }));
    },
    async credentialsFile() {
      const { accessKeyId, secretAccessKey } = owner;
      const lines = ['[default]', `aws_access_key_id = ${accessKeyId}`, `aws_secret_access_key = ${secretAccessKey}`];
      await writeFile(at('credentials'), `${lines.join('\n')}\n`, { mode: 0o600 });
      return at('credentials');
    },
    kill: async () => server?.kill(),
    restart: async () => {
      await server?.kill();
      await start();
    },
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await stop();
    },
  };
}

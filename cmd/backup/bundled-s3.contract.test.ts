import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { patient } from '../../testing/patient.ts';
import { startS3 } from '../../testing/servers/s3/s3-server.ts';
import type { S3Server } from '../../testing/servers/s3/s3-server.ts';
import { serverFolder } from '../../testing/servers/server-folder.ts';
import type { ServerFolder } from '../../testing/servers/server-folder.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The clients of S3 load parts of themselves when they need them, which a bundle may break without a word. */
describe('the program as it is shipped', () => {
  let server: S3Server;
  let folder: ServerFolder;
  let bucket: string;
  const at = (name: string): string => join(folder.path, name);
  beforeAll(async () => {
    [server, folder] = await Promise.all([startS3(), serverFolder()]);
    bucket = await server.makeBucket();
    await run(process.execPath, [join(root, 'cmd/build.ts'), at('dist')], { cwd: root });
    await writeFile(at('key'), randomBytes(32).toString('base64'));
    await writeFile(at('ca.crt'), server.connection.ca);
    const clusters = [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }];
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
    const users = [{ name: 'a', user: { token: 'a' } }];
    const kubeconfig = { apiVersion: 'v1', kind: 'Config', clusters, contexts, users, 'current-context': 'a' };
    await writeFile(at('kubeconfig'), JSON.stringify(kubeconfig));
  }, 180_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  /** What `steward restore` says, which reads the repository before anything else. */
  async function restore(environment: NodeJS.ProcessEnv, to = bucket): Promise<string> {
    const { endpoint = '', region = '' } = server.connection;
    const args = ['restore', '--tenant-control-plane=tenants/shop', `--kubeconfig=${at('kubeconfig')}`];
    args.push(`--repository=s3://${to}/eu`, `--key-file=${at('key')}`, `--s3-endpoint=${endpoint}`);
    args.push(`--s3-region=${region}`, `--s3-ca-file=${at('ca.crt')}`);
    const env = { HOME: folder.path, AWS_EC2_METADATA_DISABLED: 'true', ...environment };
    try {
      await run(process.execPath, [at('dist/steward.mjs'), ...args], {
        env,
        cwd: folder.path,
        timeout: patient(60_000),
      });
      throw new Error('there was something to restore');
    } catch (error) {
      const { code, stdout, stderr } = error as { code?: number; stdout?: string; stderr?: string };
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      return stdout ?? '';
    }
  }

  const variables = (): NodeJS.ProcessEnv => {
    const { accessKeyId, secretAccessKey } = server.connection.credentials;
    return { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  };

  test('reads a bucket with credentials from variables and from a file', async () => {
    expect(await restore(variables())).toContain('there is no backup of this control plane in the repository');
    const file = { AWS_SHARED_CREDENTIALS_FILE: await server.credentialsFile() };
    expect(await restore(file)).toContain('there is no backup of this control plane in the repository');
  }, 120_000);

  test('says what is wrong, and nothing secret', async () => {
    expect(await restore(variables(), 'never-made')).toContain('bucket never-made does not exist there');
    expect(await restore({})).toContain('no credentials were found: set AWS_ACCESS_KEY_ID');
    const said = await restore({ ...variables(), AWS_SECRET_ACCESS_KEY: 'hidden-secret' });
    expect(said).toContain('the secret access key does not belong to the access key ID');
    expect(said).not.toContain('hidden');
  }, 120_000);
});

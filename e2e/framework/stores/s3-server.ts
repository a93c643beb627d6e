import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { Agent, request } from 'undici';

import type { Harness } from '../../cluster/harness.ts';
import { isAlive } from '../../cluster/machines/process-identity.ts';
import { startBackground } from '../../cluster/machines/start-background.ts';
import { selfSignedCertificate } from '../../cluster/self-signed-certificate.ts';
import { resolveTools } from '../../tools/resolve.ts';
import { deadlineIn } from '../deadline-in.ts';

/** The bucket that the page about backups names. */
const bucket = 'my-backups';

const region = 'eu-central-1';

/** The address is of one harness, so nothing else listens there. */
const port = 9443;

/** An S3 server with a bucket, as the Secret of a bucket names it. */
export interface S3Server {
  /** Values of the Secret of the bucket by their keys. */
  readonly secret: Readonly<Record<string, string>>;
}

/**
 * Starts the pinned versitygw with TLS on the host's address in a harness, which the pods of all harnesses reach. It ends with the harness.
 * @throws Error with its log when it does not serve.
 */
export async function startS3(harness: Harness): Promise<S3Server> {
  const { versitygw } = await resolveTools(['versitygw']);
  const folder = path.join(harness.folder, 's3');
  const at = (name: string): string => path.join(folder, name);
  // To this server, a bucket is a folder.
  for (const name of [path.join('objects', bucket), 'metadata', 'users']) await mkdir(at(name), { recursive: true });
  const { gateway } = harness.network;
  const { certificate, privateKey } = await selfSignedCertificate([gateway]);
  await writeFile(at('tls.crt'), certificate);
  await writeFile(at('tls.key'), privateKey, { mode: 0o600 });
  const [access, secret] = [`key-${randomBytes(6).toString('hex')}`, randomBytes(16).toString('hex')];
  const { process: server, log } = await startBackground(harness, 's3', [
    versitygw,
    ...['--port', `${gateway}:${port}`, '--region', region, '--health', '/healthz', '--iam-dir', at('users')],
    ...['--cert', at('tls.crt'), '--key', at('tls.key'), '--access', access, '--secret', secret],
    ...['posix', '--sidecar', at('metadata'), at('objects')],
  ]);
  const endpoint = `https://${gateway}:${port}`;
  for (const deadline = deadlineIn(30_000); !(await answers(`${endpoint}/healthz`, certificate));) {
    const isGone = !(await isAlive(server)) || Date.now() > deadline;
    if (isGone) throw new Error(`versitygw does not serve:\n${await readFile(log, 'utf8')}`);
    await pause(100);
  }
  return {
    secret: {
      repository: `s3://${bucket}/steward`,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: access,
      AWS_SECRET_ACCESS_KEY: secret,
      AWS_ENDPOINT_URL_S3: endpoint,
      'ca.crt': certificate,
    },
  };
}

async function answers(url: string, ca: string): Promise<boolean> {
  const agent = new Agent({ connect: { ca } });
  try {
    const { statusCode, body } = await request(url, { dispatcher: agent });
    await body.dump();
    return statusCode === 200;
  } catch {
    // It does not listen yet.
    return false;
  } finally {
    await agent.destroy();
  }
}

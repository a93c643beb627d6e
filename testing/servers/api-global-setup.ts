import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { apiServerVariable } from './api-server-under-test.ts';
import { startApiServer } from './api-server.ts';
import type { ApiServerAccess } from './api-server.ts';
import { installMariadb } from './mariadb-server.ts';
import { runningApiServer } from './running-api-server.ts';

const tell = (line: string): void => void process.stderr.write(`${line}\n`);

/** jest calls this once before the tests of tier `api`: one API server for the run. A failure fails the run with its remedy. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function setUp(): Promise<void> {
  // Building may take minutes: here with progress, not inside a test's time limit.
  await resolveTools(['etcd', 'etcdctl', 'kine', 'kube-apiserver', 'proxy-agent', 'proxy-server'], { progress: tell });
  await installMariadb(tell);
  const server = await startApiServer();
  runningApiServer.current = server;
  const { url, ca, adminCertificate, adminKey, kubeconfigPath } = server;
  const access: ApiServerAccess = { url, ca, adminCertificate, adminKey, kubeconfigPath };
  const path = join(dirname(kubeconfigPath), 'access.json');
  await writeFile(path, JSON.stringify(access), { mode: 0o600 });
  process.env[apiServerVariable] = path;
}

import { etcdReleases } from '../../e2e/tools/etcd-releases.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { installMariadb } from './mariadb-server.ts';

/** jest calls this once before the tests of tier `contract`: their stores' binaries are there before any test's clock runs. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function setUp(): Promise<void> {
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  await resolveTools(['clusterctl', 'helm', 'kine', 'kustomize', 'nats-server', 'nats-server-2.12.12', 'registry'], {
    progress,
  });
  await installMariadb(progress);
  for (const { version } of etcdReleases) await resolveTools(['etcd', 'etcdctl'], { etcd: version, progress });
}

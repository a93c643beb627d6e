import { leakyEtcd } from '../../e2e/tools/etcd-releases.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { comparedReleases } from '../repository/compared-releases.ts';
import { testScope } from '../runner/test-scope.ts';
import { installMariadb } from './mariadb-server.ts';

/**
 * jest calls this once before the tests of tier `contract`: their stores' binaries are there before any test's clock runs, and when
 * all files are run, so are the kubeadms that one of them compares with.
 */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function setUp({ nonFlagArgs }: { readonly nonFlagArgs: readonly string[] }): Promise<void> {
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  await resolveTools(['clusterctl', 'helm', 'kine', 'kustomize', 'nats-server', 'nats-server-2.12.12', 'registry'], {
    progress,
  });
  await resolveTools(['gitops-health', 'versitygw'], { progress });
  await installMariadb(progress);
  for (const { version } of [...testScope().etcd, leakyEtcd])
    await resolveTools(['etcd', 'etcdctl'], { etcd: version, progress });
  if (nonFlagArgs.length > 0) return;
  for (const { version: kubernetes } of comparedReleases()) await resolveTools(['kubeadm'], { kubernetes, progress });
}

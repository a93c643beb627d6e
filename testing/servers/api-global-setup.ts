import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensurePackages } from '../../e2e/tools/debian-packages.ts';
import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { apiServersVariable } from './api-server-under-test.ts';
import { startApiServer } from './api-server.ts';
import type { ApiServerAccess } from './api-server.ts';
import { installMariadb } from './mariadb-server.ts';
import { runningApiServers } from './running-api-servers.ts';

const print = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * jest calls this once before the tests of tier `api`: one API server for each of its workers, since managers under test watch all
 * namespaces. A failure fails the run with its remedy.
 */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function setUp({ maxWorkers }: { readonly maxWorkers: number }): Promise<void> {
  // Building may take minutes: here with progress, not inside a test's time limit.
  const progress = print;
  await resolveTools(
    ['capi-core-manager', 'clusterctl', 'etcd', 'etcdctl', 'helm', 'kine', 'kube-apiserver', 'kube-controller-manager'],
    { progress },
  );
  await resolveTools(['kubectl', 'proxy-agent', 'proxy-server', 'registry', 'terraform-config-inspect'], { progress });
  // Workers join the newest three, and upgrades pass them.
  for (const { version: kubernetes } of kubernetesReleases.slice(0, 3))
    await resolveTools(['kube-apiserver', 'kubeadm'], { kubernetes, progress });
  await installMariadb(print);
  await ensurePackages(['ansible', 'python3-kubernetes'], print);
  for (let worker = 0; worker < maxWorkers; worker += 1) runningApiServers.push(await startApiServer());
  const all = runningApiServers.map(({ url, ca, adminCertificate, adminKey, kubeconfigPath }): ApiServerAccess => {
    return { url, ca, adminCertificate, adminKey, kubeconfigPath };
  });
  const path = join(dirname(all[0]?.kubeconfigPath ?? ''), 'access.json');
  await writeFile(path, JSON.stringify(all), { mode: 0o600 });
  process.env[apiServersVariable] = path;
}

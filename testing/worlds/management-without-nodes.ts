import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KubernetesClient } from '../../e2e/cluster/kubernetes-client.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { stewardProfile } from '../contracts/control-plane/steward/steward-profile.ts';
import { startStewardHosting } from '../contracts/control-plane/steward/steward-hosting.ts';
import { chartFolder, helm } from '../repository/rendered-chart.ts';
import { accountKubeconfig } from '../builders/account-kubeconfig.ts';
import { answersOk } from '../servers/answers-ok.ts';
import type { ApiServer } from '../servers/api-server.ts';
import { startApiServer } from '../servers/api-server.ts';
import { freePorts } from '../servers/free-ports.ts';
import { serverFolder } from '../servers/server-folder.ts';
import { startServerProcess } from '../servers/server-process.ts';

const namespace = 'steward-system';
const account = 'steward-controller-manager';

/** A management cluster with Steward at work, and no node. */
export interface ManagementWithoutNodes extends AsyncDisposable {
  readonly server: ApiServer;
  readonly client: KubernetesClient;
}

/** Installs both charts as their README says, without the quick-start etcd. */
export async function installCharts({ kubeconfigPath }: ApiServer): Promise<void> {
  const install = (chart: string, ...values: readonly string[]): Promise<string> =>
    helm(
      ...['upgrade', '--install', chart, chartFolder(chart), '--namespace', namespace, '--create-namespace'],
      ...['--kubeconfig', kubeconfigPath, ...values],
    );
  await install('steward-crds');
  await install('steward', '--set', 'etcd.enabled=false');
}

/**
 * Starts what a client from outside meets: a real API server with the charts installed, the real manager with its webhooks and the
 * rights of its ServiceAccount, a DataStore `default` on a real etcd, and control planes as processes of this host, each at the
 * address of its Service of type ClusterIP. All of it dies with this process.
 * @param install puts Steward into the cluster; by default the charts.
 */
export async function startManagementWithoutNodes(install = installCharts): Promise<ManagementWithoutNodes> {
  await using started = new AsyncDisposableStack();
  const folder = started.use(await serverFolder());
  // Addresses of Services are this host's own, and of another run's next to never.
  const services = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.0/24`;
  const server = started.use(await startApiServer({ flags: { 'service-cluster-ip-range': services } }));
  const client = new KubernetesClient(server.kubeconfig);
  await install(server);
  const { 'kube-controller-manager': program } = await resolveTools(['kube-controller-manager']);
  const controllers = await startServerProcess({
    program,
    programArguments: [
      ...[`--kubeconfig=${server.kubeconfigPath}`, '--leader-elect=false', '--secure-port=0'],
      '--controllers=garbage-collector-controller,clusterrole-aggregation-controller',
    ],
    log: join(folder.path, 'kube-controller-manager.log'),
  });
  started.defer(() => controllers.kill());
  const [webhooks = 0, health = 0] = await freePorts(2);
  const kubeconfigPath = join(folder.path, 'manager.kubeconfig');
  await writeFile(kubeconfigPath, await accountKubeconfig(server, namespace, account), { mode: 0o600 });
  const command = stewardProfile.manager({ kubeconfigPath, namespace, webhooks, health, certificates: folder.path });
  const manager = await startServerProcess({ ...command, log: join(folder.path, 'manager.log') });
  started.defer(() => manager.kill());
  await manager.until(() => answersOk(`http://127.0.0.1:${health}/readyz`), 120_000);
  started.use(await startStewardHosting({ client, kubeconfig: server.kubeconfig }));
  const all = started.move();
  return { server, client, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

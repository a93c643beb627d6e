import path from 'node:path';

import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import type { Progress } from '../../e2e/cluster/machines/supplies.ts';
import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { moduleFolder } from '../../e2e/tools/module-folder.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { stackImageArchives } from '../../e2e/tools/stack-images.ts';

const name = 'metrics-server';
const namespace = 'kube-system';

/** Installs metrics-server with its publisher's chart, built from its Go module; resolves when it serves the metrics of nodes. */
export async function installMetricsServer(cluster: ManagementCluster, progress: Progress): Promise<void> {
  const tell = (line: string): void => {
    progress('metrics-server', line);
  };
  const image = (await stackImageArchives(tell)).find((archive) => archive.name.includes(`/${name}:`));
  if (image === undefined) throw new Error('There is no image of metrics-server.');
  await cluster.machine.importImage(image.path);
  const { helm } = await resolveTools(['helm'], { progress: tell });
  const chart = path.join(await moduleFolder(name), 'charts', name);
  const tag = image.name.slice(image.name.lastIndexOf(':') + 1);
  // No authority has signed what the kubelets of these machines show.
  const values = [`image.tag=${tag}`, 'args={--kubelet-insecure-tls}'].flatMap((value) => ['--set', value]);
  const { stdout } = await runCommand(helm, ['template', name, chart, '--namespace', namespace, ...values]);
  await cluster.apply(stdout);
  const available = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', name: 'v1beta1.metrics.k8s.io' };
  await cluster.waitFor(available, 'Available', {
    timeoutMs: 180_000,
    diagnose: () => cluster.diagnose(namespace),
  });
}

import type { KindRef } from '../../../api/meta.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Pod } from '../../../api/core/kinds.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { kubeconfigGenerator } from '../../../api/steward/v1alpha1/kubeconfig-generator.ts';
import { controlPlaneClaim } from '../../../api/steward/v1alpha1/pool/control-plane-claim.ts';
import { controlPlanePool } from '../../../api/steward/v1alpha1/pool/control-plane-pool.ts';
import { retainedControlPlane } from '../../../api/steward/v1alpha1/retained-control-plane.ts';
import { managerLabels } from '../manager-labels.ts';
import type { BundleFiles } from './bundle-files.ts';
import { collectLogs } from './collect-logs.ts';
import type { LogReading } from './collect-logs.ts';

/** Adds the managers, with their logs and metrics, and the objects that concern all control planes. */
export async function collectManager(
  files: BundleFiles,
  { logs, ...reading }: LogReading & { readonly logs: boolean },
): Promise<void> {
  const { cluster, signal } = reading;
  const own: readonly KindRef[] = [
    ...[dataStore, kubeconfigGenerator, retainedControlPlane, controlPlanePool, controlPlaneClaim],
  ];
  for (const kind of own) {
    await files.attempt(kind.plural, async () => {
      files.addObjects(`${kind.plural}.yaml`, (await cluster.list(kind, { signal })).items);
    });
  }
  await files.attempt('version of Kubernetes', async () => {
    await files.addText('kubernetes-version.json', await cluster.text('/version', { signal }));
  });
  await files.attempt('Deployments of the manager', async () => {
    const { items } = await cluster.list(kinds.Deployment, { labelSelector: managerLabels, signal });
    files.addObjects('manager/deployments.yaml', items);
  });
  await files.attempt('pods of the manager', async () => {
    const { items } = await cluster.list(kinds.Pod, { labelSelector: managerLabels, signal });
    files.addObjects('manager/pods.yaml', items);
    if (logs) await collectLogs(files, 'manager', { pods: items, owner: '' }, reading);
    for (const pod of items) await collectMetrics(files, pod, reading);
  });
}

/** The API server passes requests on to pods, but not the credentials that the manager wants for its metrics by default. */
async function collectMetrics(
  files: BundleFiles,
  { metadata, spec }: Pod,
  { cluster, signal }: LogReading,
): Promise<void> {
  const ports = (spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const port = ports.find(({ name }) => name === 'metrics')?.containerPort;
  if (port === undefined) return;
  const hint =
    'the manager shows them to scrapers with a token; add what your Prometheus has, or run it with --insecure-diagnostics for a moment';
  await files.attempt(`metrics of ${metadata.name} (${hint})`, async () => {
    const read = (scheme: string): Promise<string> =>
      cluster.text(`/api/v1/namespaces/${metadata.namespace}/pods/${scheme}:${metadata.name}:${port}/proxy/metrics`, {
        signal,
      });
    await files.addText(`manager/${metadata.name}.metrics.txt`, await read('https').catch(() => read('http')));
  });
}

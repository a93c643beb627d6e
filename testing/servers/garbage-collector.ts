import { dirname, join } from 'node:path';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/**
 * Garbage collection as Kubernetes does it: the other controllers would only be in the way. Its log is kept in the folder. `flags` are
 * those of kube-controller-manager besides ours.
 */
export async function startGarbageCollector(
  { kubeconfigPath }: { readonly kubeconfigPath: string },
  folder: string,
  flags: readonly string[] = [],
): Promise<ServerProcess> {
  return startController('garbage-collector-controller', { kubeconfigPath, folder, flags });
}

/** HorizontalPodAutoscalers as Kubernetes acts on them, once a second. */
export async function startAutoscaler(
  { kubeconfigPath }: { readonly kubeconfigPath: string },
  folder: string,
): Promise<ServerProcess> {
  const flags = ['--horizontal-pod-autoscaler-sync-period=1s'];
  return startController('horizontal-pod-autoscaler-controller', { kubeconfigPath, folder, flags });
}

/** Approved requests for certificates as Kubernetes signs them, with the CA of the API server. */
export async function startSigner(
  { kubeconfigPath }: { readonly kubeconfigPath: string },
  folder: string,
): Promise<ServerProcess> {
  const place = dirname(kubeconfigPath);
  const flags = [
    `--cluster-signing-cert-file=${join(place, 'ca.crt')}`,
    `--cluster-signing-key-file=${join(place, 'ca.key')}`,
  ];
  return startController('certificatesigningrequest-signing-controller', { kubeconfigPath, folder, flags });
}

interface Given {
  readonly kubeconfigPath: string;
  readonly folder: string;
  readonly flags?: readonly string[];
}

async function startController(name: string, { kubeconfigPath, folder, flags = [] }: Given): Promise<ServerProcess> {
  const tools = await resolveTools(['kube-controller-manager']);
  return startServerProcess({
    program: tools['kube-controller-manager'],
    programArguments: [
      `--kubeconfig=${kubeconfigPath}`,
      `--controllers=${name}`,
      '--leader-elect=false',
      '--secure-port=0',
      ...flags,
    ],
    log: join(folder, `${name}.log`),
  });
}

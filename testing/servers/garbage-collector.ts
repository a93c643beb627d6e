import { join } from 'node:path';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { startServerProcess } from './server-process.ts';
import type { ServerProcess } from './server-process.ts';

/** Garbage collection as Kubernetes does it: the other controllers would only be in the way. Its log is kept in the folder. */
export async function startGarbageCollector(
  { kubeconfigPath }: { readonly kubeconfigPath: string },
  folder: string,
): Promise<ServerProcess> {
  const tools = await resolveTools(['kube-controller-manager']);
  return startServerProcess({
    program: tools['kube-controller-manager'],
    programArguments: [
      `--kubeconfig=${kubeconfigPath}`,
      '--controllers=garbage-collector-controller',
      '--leader-elect=false',
      '--secure-port=0',
    ],
    log: join(folder, 'kube-controller-manager.log'),
  });
}

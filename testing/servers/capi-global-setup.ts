import { kubernetesReleases } from '../../e2e/tools/kubernetes-releases.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { testScope } from '../runner/test-scope.ts';

const progress = (line: string): void => void process.stderr.write(`${line}\n`);

/** jest calls this once before the tests of tier `capi`: building may take minutes, here with progress. */
// eslint-disable-next-line no-restricted-syntax -- jest takes the default export
export default async function setUp(): Promise<void> {
  await resolveTools(['etcd', 'etcdctl', 'kube-apiserver', 'kube-controller-manager', 'kubectl', 'kustomize'], {
    progress,
  });
  // Control planes are upgraded along the newest three.
  for (const { version: kubernetes } of kubernetesReleases.slice(0, 3))
    await resolveTools(['kube-apiserver'], { kubernetes, progress });
  for (const { version: clusterApi } of testScope().clusterApi)
    await resolveTools(['capi-core-manager', 'capi-kubeadm-bootstrap-manager', 'clusterctl'], { clusterApi, progress });
}

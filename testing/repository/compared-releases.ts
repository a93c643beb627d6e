import type { KubernetesRelease } from '../../e2e/tools/kubernetes-releases.ts';
import { testScope } from '../runner/test-scope.ts';

/** Minors that are compared only with `KUBEADM_MINORS=all`. */
const onlyWhenAsked: readonly string[] = ['1.30', '1.32', '1.33'];

/**
 * The releases with whose kubeadm this run compares: the oldest minor, the first with v1beta4, and the three newest; of the core of
 * the tests its own. Where nothing can be downloaded each kubeadm is built, which costs two minutes of a processor.
 */
export function comparedReleases(): readonly KubernetesRelease[] {
  return testScope().releases.filter(
    ({ minor }) => process.env.KUBEADM_MINORS === 'all' || !onlyWhenAsked.includes(minor),
  );
}

import { kubernetesReleases, resolveKubernetes } from '../tools/kubernetes-releases.ts';
import type { KubernetesRelease } from '../tools/kubernetes-releases.ts';

/** The releases that a list such as `1.30,v1.31` names, each once and the oldest first; all of them when there is no list. */
export function chosenMinors(list: string | undefined): readonly KubernetesRelease[] {
  const oldestFirst = [...kubernetesReleases].reverse();
  if (list === undefined) return oldestFirst;
  const named = new Set(list.split(',').map((name) => resolveKubernetes(name.trim())));
  return oldestFirst.filter((release) => named.has(release));
}

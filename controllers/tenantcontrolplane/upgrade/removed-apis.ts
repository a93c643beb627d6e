import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { plainText } from './plain-text.ts';

/**
 * The gauge with which kube-apiserver has reported since 1.19 which deprecated APIs were requested since it started, and in which
 * release each is removed (https://kubernetes.io/docs/reference/using-api/deprecation-policy/#rest-resources-aka-api-objects).
 */
const line = /^apiserver_requested_deprecated_apis\{([^}\n]{1,2000})\} (?!0(?:\.0*)?(?:\s|$))/gm;
const label = /([a-z_]+)="([^"\\]*)"/g;
const release = /^1\.(\d{1,4})$/;

/** Requested APIs that `to` no longer serves, e.g. `flowschemas of flowcontrol.apiserver.k8s.io/v1beta3`. */
export function removedApis(metrics: string, to: KubernetesVersion): readonly string[] {
  const found = new Set<string>();
  for (const [, text = ''] of metrics.matchAll(line)) {
    const labels = Object.fromEntries([...text.matchAll(label)].map(([, name = '', value = '']) => [name, value]));
    const gone = release.exec(labels.removed_release ?? '')?.[1];
    if (gone === undefined || Number(gone) > to.minor) continue;
    const [group, version, resource] = [labels.group, labels.version, labels.resource].map(plainText);
    found.add(`${resource ?? ''} of ${[group, version].filter((part) => part !== '').join('/')}`);
  }
  return [...found].sort();
}

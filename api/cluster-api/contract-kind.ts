import type { KindRef, NamespacedResource, Resource } from '../meta.ts';

/** Supported contracts, newest first. */
const contracts = ['v1beta2', 'v1beta1'] as const;

/** A kind in the version that a contract label of its CustomResourceDefinition names. */
export interface ContractKind<T extends NamespacedResource = NamespacedResource> {
  readonly kind: KindRef<T>;
  readonly contract: 'v1beta1' | 'v1beta2';
}

/** Name of the CustomResourceDefinition of a kind, computed in the same way as in Cluster API. */
export function definitionName(group: string, kind: string): string {
  const lower = kind.toLowerCase();
  const plural = /(s|x|z|ch|sh)$/.test(lower)
    ? `${lower}es`
    : /[^aeiou]y$/.test(lower)
      ? `${lower.slice(0, -1)}ies`
      : `${lower}s`;
  return `${plural}.${group}`;
}

/**
 * The kind in the version to use: the newest version of the newest contract in the labels of the
 * CustomResourceDefinition; undefined without such a label. Its metadata is sufficient: the contracts require
 * namespaced objects, and definitions named after group and kind.
 */
export function contractKind<T extends NamespacedResource = NamespacedResource>(
  { metadata }: Resource,
  kind: string,
): ContractKind<T> | undefined {
  const [plural = '', ...group] = metadata.name.split('.');
  for (const contract of contracts) {
    const label = metadata.labels?.[`cluster.x-k8s.io/${contract}`];
    const version = (label ?? '').split('_').filter(Boolean).sort(byKubeVersion).at(-1);
    if (version === undefined) continue;
    return { contract, kind: { group: group.join('.'), version, kind, plural, namespaced: true } };
  }
  return undefined;
}

/** Order of API versions in Kubernetes: v1 > v1beta2 > v1beta1 > v1alpha1. */
function byKubeVersion(a: string, b: string): number {
  const [x, y] = [rank(a), rank(b)];
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
}

function rank(version: string): readonly [number, number, number] {
  const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor)];
}

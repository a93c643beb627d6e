import type { KindRef, Resource } from '../meta.ts';

/** Contracts we can speak, newest first. */
const contracts = ['v1beta2', 'v1beta1'] as const;

/** A kind as a contract label of its definition names it. */
export interface ContractKind<T extends Resource = Resource> {
  readonly kind: KindRef<T>;
  readonly contract: 'v1beta1' | 'v1beta2';
}

/** Name of a kind's definition, as Cluster API computes it. */
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
 * The version to use: the newest of the newest contract that the definition is labelled with; undefined for none. Metadata is
 * enough: the contracts want such objects namespaced, and their definitions named after them.
 */
export function contractKind<T extends Resource = Resource>(
  { metadata }: Resource,
  kind: string,
): ContractKind<T> | undefined {
  const [plural = '', ...group] = (metadata.name ?? '').split('.');
  for (const contract of contracts) {
    const label = metadata.labels?.[`cluster.x-k8s.io/${contract}`];
    const version = (label ?? '').split('_').filter(Boolean).sort(byKubeVersion).at(-1);
    if (version === undefined) continue;
    return { contract, kind: { group: group.join('.'), version, kind, plural, namespaced: true } };
  }
  return undefined;
}

/** Kubernetes' order of API versions: v1 > v1beta2 > v1beta1 > v1alpha1. */
function byKubeVersion(a: string, b: string): number {
  const [x, y] = [rank(a), rank(b)];
  return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
}

function rank(version: string): readonly [number, number, number] {
  const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
  return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor)];
}

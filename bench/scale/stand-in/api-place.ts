import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';
import type { WriteOptions } from '../../../runtime/client/cluster.ts';

type Subresource = NonNullable<WriteOptions['subresource']>;

/** What a path of the Kubernetes API names. */
export interface ApiPlace {
  readonly kind: KindRef;
  readonly namespace?: string;
  /** Absent for a collection. */
  readonly name?: string;
  readonly subresource?: Subresource;
}

const subresources: readonly string[] = ['status', 'scale', 'finalize', 'approval'] satisfies readonly Subresource[];

const known = new Map(
  Object.values<KindRef>(kinds).map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind]),
);

/** Reads a path without its query; undefined when it names no built-in kind that Steward knows. */
export function apiPlace(pathname: string): ApiPlace | undefined {
  const parts = pathname.split('/').slice(1).map(decodeURIComponent);
  const [root, ...below] = parts;
  const group = root === 'apis' ? below.shift() : root === 'api' ? '' : undefined;
  const version = below.shift();
  // The namespaces themselves are a collection; what is below one of them is in it.
  const isInside = below[0] === 'namespaces' && below.length > 2 && !subresources.includes(below[2] ?? '');
  const namespace = isInside ? below[1] : undefined;
  const [plural = '', name, subresource] = isInside ? below.slice(2) : below;
  const kind = known.get(`${group ?? '-'}/${version ?? ''}/${plural}`);
  if (kind === undefined || (subresource !== undefined && !isSubresource(subresource))) return undefined;
  return { kind, namespace, name, subresource };
}

function isSubresource(text: string): text is Subresource {
  return subresources.includes(text);
}

import type { KindRef } from '../../api/meta.ts';
import type { Cluster, ReadOptions } from './cluster.ts';
import { parseJson } from './decode-object.ts';
import { ApiError, UnreachableError } from './errors.ts';

interface ServedKind {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Resources of a version; none when it is not served. A group may be served by someone else's API server behind this one. */
function servedKinds(text: string): readonly ServedKind[] {
  const list = parseJson(text) as { readonly resources?: unknown } | null;
  const resources: unknown = list?.resources ?? [];
  if (Array.isArray(resources) && resources.every(isServedKind)) return resources;
  throw new UnreachableError('the response is not a list of resources');
}

function isServedKind(value: unknown): value is ServedKind {
  if (typeof value !== 'object' || value === null) return false;
  const { name, kind, namespaced } = value as Partial<Record<keyof ServedKind, unknown>>;
  return typeof name === 'string' && typeof kind === 'string' && typeof namespaced === 'boolean';
}

/**
 * The kinds that an API server serves, by the names in manifests. Found kinds are cached; others are looked up again,
 * because definitions come and go. `forget` is for a kind that turned out to be gone.
 */
export class KindDiscovery {
  readonly #cluster: Pick<Cluster, 'text'>;
  readonly #known = new Map<string, KindRef>();

  constructor(cluster: Pick<Cluster, 'text'>) {
    this.#cluster = cluster;
  }

  /** The kind, or undefined when the server does not serve it. */
  async find(apiVersion: string, kind: string, options: ReadOptions = {}): Promise<KindRef | undefined> {
    const id = `${apiVersion} ${kind}`;
    if (!this.#known.has(id)) await this.#read(apiVersion, options);
    return this.#known.get(id);
  }

  forget({ group, version, kind }: KindRef): void {
    this.#known.delete(`${group === '' ? version : `${group}/${version}`} ${kind}`);
  }

  async #read(apiVersion: string, options: ReadOptions): Promise<void> {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    const resources = await this.#cluster.text(path, options).then(servedKinds, (error: unknown) => {
      if (error instanceof ApiError && error.code === 404) return [];
      throw error;
    });
    for (const { name, kind, namespaced } of resources) {
      // A slash is in the names of subresources.
      if (name.includes('/')) continue;
      this.#known.set(`${apiVersion} ${kind}`, { group, version, kind, plural: name, namespaced });
    }
  }
}

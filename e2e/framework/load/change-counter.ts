import type { KubernetesClient, PlainObject } from '../../cluster/kubernetes-client.ts';
import { watchObjects } from '../../cluster/watch-objects.ts';

const collections = (namespace: string): readonly string[] => [
  ...['secrets', 'configmaps', 'services'].map((plural) => `/api/v1/namespaces/${namespace}/${plural}`),
  `/apis/apps/v1/namespaces/${namespace}/deployments`,
  `/apis/steward.butlerlabs.dev/v1alpha1/namespaces/${namespace}/tenantcontrolplanes`,
  `/apis/controlplane.cluster.x-k8s.io/v1alpha2/namespaces/${namespace}/stewardcontrolplanes`,
];

/**
 * Counts the changes in a namespace to objects that the manager works on, until it is disposed of. What was there before, and what a watch
 * tells again after it was lost, is no change.
 */
export class ChangeCounter implements Disposable {
  readonly #stop = new AbortController();
  readonly #waiting = new Map<() => void, number>();
  readonly #told = new Set<string>();
  #count = 0;

  /** Begins to count. */
  static async start(
    client: KubernetesClient,
    namespace: string,
    onError: (error: unknown) => void,
  ): Promise<ChangeCounter> {
    const counter = new ChangeCounter();
    for (const path of collections(namespace)) {
      const { items } = await client.connection.send<{ readonly items: readonly PlainObject[] }>({
        method: 'GET',
        path,
      });
      for (const item of items) counter.#told.add(versionOf(item));
      const { signal } = counter.#stop;
      watchObjects(client.config, path, ({ object }) => counter.#notify(object), { signal, onError }).catch(onError);
    }
    return counter;
  }

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  /** Resolves at the change of this number; the first has number 1. */
  async reached(number: number): Promise<void> {
    if (this.#count >= number) return;
    await new Promise<void>((resolve) => {
      this.#waiting.set(resolve, number);
    });
  }

  [Symbol.dispose](): void {
    this.#stop.abort();
  }

  #notify(object: PlainObject): Promise<void> {
    const version = versionOf(object);
    if (this.#told.has(version)) return Promise.resolve();
    this.#told.add(version);
    this.#count += 1;
    for (const [resolve, number] of this.#waiting) {
      if (number > this.#count) continue;
      this.#waiting.delete(resolve);
      resolve();
    }
    return Promise.resolve();
  }
}

function versionOf({ metadata }: PlainObject): string {
  const { uid = '', resourceVersion = '' } = (metadata ?? {}) as {
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  return `${uid}/${resourceVersion}`;
}

import type { KubernetesClient } from '../harness/kubernetes-client.ts';
import { watchObjects } from '../harness/watch-objects.ts';

const collections = (namespace: string): readonly string[] => [
  ...['secrets', 'configmaps', 'services'].map((plural) => `/api/v1/namespaces/${namespace}/${plural}`),
  `/apis/apps/v1/namespaces/${namespace}/deployments`,
  `/apis/steward.butlerlabs.dev/v1alpha1/namespaces/${namespace}/tenantcontrolplanes`,
  `/apis/controlplane.cluster.x-k8s.io/v1alpha2/namespaces/${namespace}/stewardcontrolplanes`,
];

/** Counts the changes in a namespace to objects that the manager works on, until it is disposed of. */
export class ChangeCounter implements Disposable {
  readonly #stop = new AbortController();
  readonly #waiting = new Map<() => void, number>();
  #count = 0;

  constructor(client: KubernetesClient, namespace: string, onError: (error: unknown) => void) {
    for (const path of collections(namespace)) {
      watchObjects(client.config, path, () => this.#changed(), { signal: this.#stop.signal, onError }).catch(onError);
    }
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

  #changed(): Promise<void> {
    this.#count += 1;
    for (const [resolve, number] of this.#waiting) {
      if (number > this.#count) continue;
      this.#waiting.delete(resolve);
      resolve();
    }
    return Promise.resolve();
  }
}

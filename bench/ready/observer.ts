import { setTimeout as pause } from 'node:timers/promises';

import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { ManagementCluster } from '../../e2e/cluster/management-cluster.ts';
import { watchObjects } from '../../e2e/cluster/watch-objects.ts';

/** A change of an object as it reached this process. */
export interface Observation {
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: string;
  readonly object: PlainObject;
}

const collections: readonly (readonly [kind: string, path: string])[] = [
  ['TenantControlPlane', '/apis/steward.butlerlabs.dev/v1alpha1/tenantcontrolplanes'],
  ['Service', '/api/v1/services'],
  ['Secret', '/api/v1/secrets'],
  ['Deployment', '/apis/apps/v1/deployments'],
  ['Pod', '/api/v1/pods'],
  ['EndpointSlice', '/apis/discovery.k8s.io/v1/endpointslices'],
];

/** Watches control planes all the time, and notifies listeners. */
export class Observer implements Disposable {
  readonly #ending = new AbortController();
  readonly #listeners = new Set<(observation: Observation) => void>();

  /** Starts the watches; resolves when they have had the time to say what there is already. */
  static async start(cluster: ManagementCluster): Promise<Observer> {
    const observer = new Observer();
    const signal = AbortSignal.any([observer.#ending.signal, cluster.harness.signal]);
    const onError = (error: unknown): void => {
      cluster.harness.progress('observer', String(error));
    };
    for (const [kind, path] of collections) {
      watchObjects(
        cluster.client.config,
        path,
        ({ type, object }) => {
          observer.#notify({ at: performance.now(), type, kind, object });
          return Promise.resolve();
        },
        { signal, onError },
      ).catch(onError);
    }
    await pause(2000);
    return observer;
  }

  #notify(observation: Observation): void {
    for (const listener of this.#listeners) listener(observation);
  }

  /** Reports every change in one namespace until the signal is aborted. */
  listen(namespace: string, signal: AbortSignal, listener: (observation: Observation) => void): void {
    const filtered = (observation: Observation): void => {
      if (observation.object.metadata?.namespace === namespace) listener(observation);
    };
    this.#listeners.add(filtered);
    signal.addEventListener('abort', () => this.#listeners.delete(filtered), { once: true });
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
  }
}

import { capiCluster, capiClusterClass } from '../../../api/cluster-api/kinds.ts';
import { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { clusterStackRelease } from '../../../clusterstacks/api/cluster-stack-release.ts';
import { clusterStack } from '../../../clusterstacks/api/cluster-stack.ts';
import type { ClusterStackSpecInput } from '../../../clusterstacks/api/cluster-stack.ts';
import { apiVersionOf } from '../../../api/meta.ts';
import type { KindRef, Manifest, Resource } from '../../../api/meta.ts';
import { access as stackAccess } from '../../../clusterstacks/controllers/clusterstack/access.ts';
import { access as releaseAccess } from '../../../clusterstacks/controllers/clusterstackrelease/access.ts';
import type { Controller } from '../../../runtime/reconcile/controller.ts';
import type { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import { silent } from '../../../runtime/observe/logger.ts';
import { Reconciler } from '../../../runtime/reconcile/reconciler.ts';
import type { Renderer } from '../../../clusterstacks/sources/renderer.ts';
import { stacksNamespace as namespace } from '../../builders/cluster-stack-objects.ts';
import { FakeAssetStore } from '../../fake/fake-asset-store.ts';
import { FakeClock } from '../../fake/fake-clock.ts';
import { FakeCluster } from '../../fake/fake-cluster.ts';
import { CrashError } from '../../fake/fake-faults.ts';
import { listedInformers } from '../../fake/listed-informers.ts';

const kind = (group: string, version: string, name: string): KindRef => ({
  ...{ group, version, kind: name, plural: `${name.toLowerCase()}s`, namespaced: true },
});
const clusterTemplate = kind('infrastructure.cluster.x-k8s.io', 'v1beta2', 'DockerClusterTemplate');
const machineTemplate = kind('infrastructure.cluster.x-k8s.io', 'v1beta2', 'DockerMachineTemplate');
const providerTemplate = kind('infrastructure.clusterstack.x-k8s.io', 'v1alpha1', 'DockerClusterStackReleaseTemplate');
const providerRelease = kind('infrastructure.clusterstack.x-k8s.io', 'v1alpha1', 'DockerClusterStackRelease');
const kinds = [clusterStack, clusterStackRelease, providerRelease, capiClusterClass, clusterTemplate, machineTemplate];

const served = (...all: readonly KindRef[]): string =>
  JSON.stringify({ resources: all.map(({ plural: name, ...rest }) => ({ name, ...rest })) });

/** What the controllers of a test are made of. */
export interface StackParts {
  readonly cluster: FakeCluster;
  readonly informers: Pick<InformerFactory, 'informer'>;
  readonly assets: FakeAssetStore;
  readonly renderer: Renderer;
}

/** A class and its templates, named after their release. */
function chartOf(path: string): readonly Manifest[] {
  const version = /v\d+(?=\.tgz$)/.exec(path)?.[0] ?? '';
  const manifest = (of: KindRef, name: string): Manifest => ({
    apiVersion: apiVersionOf(of),
    kind: of.kind,
    metadata: { name },
    spec: { template: { of: version } },
  });
  return [
    manifest(clusterTemplate, `cluster-${version}`),
    manifest(machineTemplate, `worker-${version}`),
    manifest(capiClusterClass, `docker-scs-1-30-${version}`),
  ];
}

/** A management cluster with a ClusterStack that has a provider, and the controllers that make ClusterClasses of its releases. */
export class StackLayer {
  readonly clock = new FakeClock();
  readonly assets = new FakeAssetStore();
  readonly cluster: FakeCluster;
  readonly #make: (parts: StackParts) => readonly Controller[];
  #seen: Readonly<Record<string, readonly Resource[]>> = {};
  #reconcilers: readonly (readonly [KindRef, Reconciler])[] = [];

  constructor(make: (parts: StackParts) => readonly Controller[]) {
    this.#make = make;
    this.cluster = new FakeCluster({
      access: [...stackAccess, ...releaseAccess],
      now: () => this.clock.now().getTime(),
      texts: {
        '/apis/cluster.x-k8s.io/v1beta2': served(capiClusterClass),
        '/apis/infrastructure.cluster.x-k8s.io/v1beta2': served(clusterTemplate, machineTemplate),
        '/apis/infrastructure.clusterstack.x-k8s.io/v1alpha1': served(providerTemplate, providerRelease),
      },
    });
    this.restart();
  }

  /** Another process: nothing is remembered. */
  restart(): void {
    this.cluster.restart();
    const informers = listedInformers(
      Object.fromEntries([...kinds, capiCluster].map((one) => [one.kind, () => this.#seen[one.kind] ?? []] as const)),
    );
    const renderer: Renderer = {
      render: ({ chart }) => Promise.resolve(chartOf(chart)),
      expand: () => Promise.reject(new Error('classes have no values')),
    };
    const controllers = this.#make({ cluster: this.cluster, informers, assets: this.assets, renderer });
    this.#reconcilers = controllers.map((controller) => {
      const reconciler = new Reconciler({
        memory: new ObjectMemory(),
        controller,
        cluster: this.cluster,
        clock: this.clock,
        events: { record: () => undefined },
        stop: new AbortController().signal,
        wrote: () => undefined,
      });
      return [controller.kind, reconciler];
    });
  }

  push(version: string): void {
    this.assets.push(`docker-scs-1-30-${version}`, {
      digit: version.slice(1),
      kubernetes: `v1.30.${version.slice(1)}`,
    });
  }

  /** A ClusterStack that follows its source. */
  async follow(): Promise<void> {
    await this.cluster.seed(providerTemplate, {
      ...{ apiVersion: apiVersionOf(providerTemplate), kind: providerTemplate.kind },
      metadata: { namespace, name: 'images' },
      ...{ spec: { template: { spec: { registry: 'registry.example.com' } } } },
    });
    const spec: ClusterStackSpecInput = {
      ...{ provider: 'docker', name: 'scs', kubernetesVersion: '1.30' },
      providerRef: {
        ...{ apiVersion: apiVersionOf(providerTemplate), kind: providerTemplate.kind },
        ...{ name: 'images', namespace },
      },
      source: { type: 'oci', repository: 'registry.example.com/stacks' },
    };
    const stack = {
      apiVersion: apiVersionOf(clusterStack),
      kind: clusterStack.kind,
      metadata: { name: 'scs', namespace },
    };
    await this.cluster.seed(clusterStack, { ...stack, ...{ spec } });
  }

  async unfollow(): Promise<void> {
    await this.cluster.admin.delete(clusterStack, { namespace, name: 'scs' });
  }

  /**
   * Reconciles until nothing is to be done at once, or the process dies; throws the error of a reconcile. The provider is
   * always ready.
   */
  async settle(): Promise<void> {
    let before = await this.#look();
    for (let rounds = 0; rounds < 40; rounds += 1) {
      let again = false;
      for (const [of, reconciler] of this.#reconcilers) {
        for (const object of this.#seen[of.kind] ?? []) {
          const end = await reconciler.reconcile(object, silent);
          if (end.error instanceof CrashError || this.cluster.crashed) return;
          if (end.error !== undefined) throw end.error as Error;
          again ||= end.afterMs === 0 || end.again === true;
        }
      }
      await this.#provide();
      const after = await this.#look();
      if (!again && before === after) return;
      before = after;
    }
    throw new Error('the stack does not come to rest');
  }

  /** All objects, without what differs each time they are made. */
  async shape(): Promise<
    readonly (Pick<Resource, 'kind'> & { readonly name?: string; readonly status?: { readonly ready?: boolean } })[]
  > {
    const all = await Promise.all(kinds.map(async (of) => (await this.cluster.admin.list(of)).items));
    return all.flat().map((object) => {
      const { metadata, ...content } = object as Resource & { readonly status?: { readonly ready?: boolean } };
      const { name, labels, finalizers, ownerReferences = [] } = metadata;
      const owners = ownerReferences.map((owner) => `${owner.kind} ${owner.name} ${owner.controller ?? false}`);
      return { ...content, name, labels, finalizers, owners };
    });
  }

  /** Reads all objects, like informers; returns a text that differs for different states. */
  async #look(): Promise<string> {
    const lists = await Promise.all(
      [...kinds, capiCluster].map(async (one) => [one.kind, (await this.cluster.admin.list(one)).items] as const),
    );
    this.#seen = Object.fromEntries(lists);
    const all = lists.flatMap(([, items]) => items);
    return all.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).join();
  }

  async #provide(): Promise<void> {
    for (const { metadata } of this.#seen[providerRelease.kind] ?? []) {
      const patch = { type: 'merge', body: { status: { ready: true } } } as const;
      const key = { namespace, name: metadata.name };
      if ((await this.cluster.admin.get(providerRelease, key)) === undefined) continue;
      await this.cluster.admin.patch(providerRelease, key, patch, { subresource: 'status' });
    }
  }
}

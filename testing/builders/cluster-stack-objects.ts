import { capiCluster, capiClusterClass } from '../../api/cluster-api/kinds.ts';
import type { CapiCluster } from '../../api/cluster-api/kinds.ts';
import { clusterStackRelease } from '../../clusterstacks/api/cluster-stack-release.ts';
import type { ClusterStackRelease, ClusterStackReleaseStatus } from '../../clusterstacks/api/cluster-stack-release.ts';
import { clusterStack } from '../../clusterstacks/api/cluster-stack.ts';
import type { ClusterStack, ClusterStackSpecInput } from '../../clusterstacks/api/cluster-stack.ts';
import { clusterStackLabels } from '../../clusterstacks/api/names.ts';
import { apiVersionOf } from '../../api/meta.ts';
import type { ObjectMeta, OwnerReference, Resource } from '../../api/meta.ts';
import type { KindRef } from '../../api/meta.ts';
import { silent } from '../../runtime/observe/logger.ts';
import type { Context } from '../../runtime/reconcile/controller.ts';
import type { FakeCluster } from '../fake/fake-cluster.ts';

/** Where stacks of tests are. */
export const stacksNamespace = 'stacks';

/** What tests of cluster stacks put into a fake cluster. */
export class ClusterStackObjects {
  readonly events: string[] = [];
  now = new Date('2026-01-01T00:00:00Z');
  readonly #cluster: FakeCluster;

  constructor(cluster: FakeCluster) {
    this.#cluster = cluster;
  }

  /** What a visit works with; its Events are kept. */
  context(): Context {
    return {
      signal: new AbortController().signal,
      now: this.now,
      log: silent,
      event: (type, reason, message) => {
        this.events.push(`${type} ${reason}: ${message}`);
      },
    };
  }

  stack(spec: Partial<ClusterStackSpecInput> = {}, name = 'scs'): Promise<ClusterStack> {
    return this.#seed(clusterStack, name, {
      spec: {
        provider: 'docker',
        name: 'scs',
        kubernetesVersion: '1.30',
        noProvider: true,
        source: { type: 'oci', repository: 'registry.example.com/stacks' },
        ...spec,
      },
    });
  }

  release(
    name: string,
    given: {
      readonly owners?: readonly ClusterStack[];
      readonly status?: Partial<ClusterStackReleaseStatus>;
      readonly spec?: object;
    } = {},
  ): Promise<ClusterStackRelease> {
    const ownerReferences = (given.owners ?? []).map(ownerOf);
    const { status, spec = {} } = given;
    return this.#seed(clusterStackRelease, name, { spec, status }, { ownerReferences });
  }

  capiCluster(name: string, className: string, namespace = stacksNamespace): Promise<CapiCluster> {
    const topology = { classRef: { name: className, namespace: stacksNamespace } };
    return this.#seed(capiCluster, name, { spec: { topology } }, { namespace });
  }

  capiClass(name: string, release: string): Promise<Resource> {
    return this.#seed(capiClusterClass, name, { spec: {} }, { labels: { [clusterStackLabels.release]: release } });
  }

  #seed<T extends Resource>(kind: KindRef<T>, name: string, content: object, metadata: ObjectMeta = {}): Promise<T> {
    return this.#cluster.seed(kind, {
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      metadata: { namespace: stacksNamespace, ...metadata, name },
      ...content,
    });
  }
}

const ownerOf = ({ apiVersion, kind, metadata }: ClusterStack): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
});

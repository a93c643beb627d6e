import { kinds } from '../../api/core/kinds.ts';
import type { Deployment, Pod } from '../../api/core/kinds.ts';
import { labels } from '../../api/names.ts';
import { checksum } from '../../kubeadm/pki/checksum.ts';
import { hashLabel } from '../../controllers/tenantcontrolplane/workload/rollout/rollout-facts.ts';
import type { TenantWorld } from './tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };
const revision = 'deployment.kubernetes.io/revision';
const slice = { namespace: 'default', name: 'tenant-abcde' };

/** What the Service leads to, after a change. */
export interface Led {
  readonly hashes: readonly string[];
  readonly pods: readonly string[];
}

/**
 * The Deployment controller, the kubelets and the controller of EndpointSlices of a world, each a step at a time, so that a test decides
 * what comes before what. All surge first: other strategies are not played.
 */
export class RollingPods {
  /** Why pods of a template do not become ready; undefined when they do. */
  trouble: (template: string) => string | undefined = () => undefined;
  readonly #world: TenantWorld;
  #made = 0;
  /** Whether the ReplicaSet of a hash calls no pod available. */
  readonly #holds = new Map<string, boolean>();
  #desired: number | undefined;

  constructor(world: TenantWorld) {
    world.podsStart = false;
    this.#world = world;
  }

  /** The pods that are not being deleted. */
  async pods(): Promise<readonly Pod[]> {
    return (await this.#world.cluster.admin.list(kinds.Pod, { namespace: 'default' })).items;
  }

  /** The Deployment controller looks once. */
  async deploymentController(): Promise<void> {
    const deployment = await this.#world.deployment();
    if (deployment === undefined) return;
    const wanted = deployment.spec?.replicas ?? 0;
    // A change that scales as well is seen before its template is.
    const isScaled = this.#desired !== undefined && this.#desired !== wanted;
    this.#desired = wanted;
    if (isScaled && !(await this.#hasReplicaSet(this.hashOf(deployment)))) {
      await this.#report(deployment);
      return;
    }
    const hash = await this.#replicaSet(deployment);
    const [recent, old] = [await this.#podsWith(hash, true), await this.#podsWith(hash, false)];
    const missing = Math.min(wanted - recent.length, 2 * wanted - recent.length - old.length);
    for (let count = 0; count < missing; count += 1) await this.#create(hash);
    this.#holds.set(hash, (deployment.spec?.minReadySeconds ?? 0) > 0);
    const all = await this.pods();
    const unavailable = all.filter((pod) => hashIn(pod) === hash && !this.#isAvailable(pod)).length;
    const mostToDelete = all.length - wanted - unavailable;
    // Pods that are not available are the first to go, but none goes before there are enough others.
    const unhealthy = old.filter((pod) => !this.#isAvailable(pod)).slice(0, Math.max(mostToDelete, 0));
    const surplus = all.filter((pod) => this.#isAvailable(pod)).length - wanted;
    const replaced = old.filter((pod) => this.#isAvailable(pod)).slice(0, Math.max(surplus, 0));
    for (const { metadata } of [...unhealthy, ...replaced])
      await this.#world.cluster.admin.delete(kinds.Pod, { namespace: 'default', name: metadata.name });
    await this.#report(deployment);
  }

  /** Every pod that can become ready does. */
  async kubelets(): Promise<void> {
    for (const pod of await this.pods()) {
      const reason = this.trouble(hashIn(pod));
      await this.#say(pod.metadata.name, reason);
    }
  }

  /** The EndpointSlices follow the Service and the pods. */
  async sliceController(): Promise<Led> {
    const service = await this.#world.cluster.admin.get(kinds.Service, key);
    const selector = Object.entries(service?.spec?.selector ?? {});
    const led = (await this.pods())
      .filter(({ metadata }) => selector.every(([label, value]) => metadata.labels?.[label] === value))
      .filter(isReady);
    const endpoints = led.map(({ metadata: { name }, status }) => ({
      addresses: [status?.podIP ?? ''],
      conditions: { ready: true },
      targetRef: { kind: 'Pod', name },
    }));
    const admin = this.#world.cluster.admin;
    if ((await admin.get(kinds.EndpointSlice, slice)) !== undefined) await admin.delete(kinds.EndpointSlice, slice);
    await this.#world.cluster.seed(kinds.EndpointSlice, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        ...slice,
        labels: {
          'kubernetes.io/service-name': 'tenant',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
      },
      ...{ addressType: 'IPv4', endpoints },
    });
    return {
      hashes: [...new Set(led.map(hashIn))],
      pods: led.map(({ metadata }) => metadata.name),
    };
  }

  /** The hash of a Deployment's pods. */
  hashOf(deployment: Deployment | undefined): string {
    return checksum({ template: JSON.stringify(deployment?.spec?.template) }).slice(0, 10);
  }

  async #replicaSet(deployment: Deployment): Promise<string> {
    const hash = this.hashOf(deployment);
    const { admin } = this.#world.cluster;
    const { items } = await admin.list(kinds.ReplicaSet, { namespace: 'default' });
    const numbers = items.map(({ metadata }) => Number(metadata.annotations?.[revision]));
    const present = items.find(({ metadata }) => metadata.labels?.[hashLabel] === hash);
    const newest = Math.max(0, ...numbers);
    if (present !== undefined && Number(present.metadata.annotations?.[revision]) === newest) return hash;
    const body = { metadata: { annotations: { [revision]: String(newest + 1) } } };
    const name = `tenant-${hash}`;
    if (present === undefined) {
      const { uid } = deployment.metadata;
      const carried = { [labels.name]: 'tenant', [hashLabel]: hash };
      const template = JSON.parse(JSON.stringify(deployment.spec?.template)) as { metadata: { labels?: object } };
      template.metadata.labels = { ...template.metadata.labels, ...carried };
      const controller = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'tenant', uid, controller: true };
      await this.#world.cluster.seed(kinds.ReplicaSet, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name, namespace: 'default', labels: carried, ownerReferences: [controller] },
        spec: { template },
      });
    }
    await admin.patch(kinds.ReplicaSet, { namespace: 'default', name }, { type: 'merge', body });
    await admin.patch(kinds.Deployment, key, { type: 'merge', body });
    return hash;
  }

  #isAvailable(pod: Pod): boolean {
    return isReady(pod) && this.#holds.get(hashIn(pod)) !== true;
  }

  async #hasReplicaSet(hash: string): Promise<boolean> {
    const key = { namespace: 'default', name: `tenant-${hash}` };
    return (await this.#world.cluster.admin.get(kinds.ReplicaSet, key)) !== undefined;
  }

  /** What the controller of ReplicaSets reports. */
  async #countReplicaSets(): Promise<void> {
    const { admin } = this.#world.cluster;
    const { items } = await admin.list(kinds.ReplicaSet, { namespace: 'default' });
    for (const { metadata } of items) {
      const pods = await this.#podsWith(metadata.labels?.[hashLabel] ?? '', true);
      const [ready, available] = [pods.filter(isReady), pods.filter((pod) => this.#isAvailable(pod))];
      const status = {
        replicas: pods.length,
        readyReplicas: ready.length,
        availableReplicas: available.length,
      };
      const at = { namespace: 'default', name: metadata.name };
      await admin.patch(kinds.ReplicaSet, at, { type: 'merge', body: { status } }, { subresource: 'status' });
    }
  }

  async #podsWith(hash: string, isHash: boolean): Promise<readonly Pod[]> {
    return (await this.pods()).filter(({ metadata }) => (metadata.labels?.[hashLabel] === hash) === isHash);
  }

  async #create(hash: string): Promise<void> {
    this.#made += 1;
    await this.#world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `tenant-${hash}-${this.#made}`,
        namespace: 'default',
        labels: { [labels.name]: 'tenant', [hashLabel]: hash },
      },
      status: { podIP: `10.0.0.${this.#made}` },
    });
  }

  async #say(name: string, reason: string | undefined): Promise<void> {
    const ready = reason === undefined;
    const waiting = { name: 'kube-apiserver', ready, restartCount: 0, state: { waiting: { reason, message: 'no' } } };
    const status = {
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: ready ? [] : [waiting],
    };
    const pod = { namespace: 'default', name };
    const options = { subresource: 'status' } as const;
    await this.#world.cluster.admin.patch(kinds.Pod, pod, { type: 'merge', body: { status } }, options);
  }

  async #report(deployment: Deployment): Promise<void> {
    await this.#countReplicaSets();
    const hash = this.hashOf(deployment);
    const [recent, all] = [await this.#podsWith(hash, true), await this.pods()];
    const available = all.filter((pod) => this.#isAvailable(pod)).length;
    await this.#world.reportPods({
      replicas: all.length,
      updatedReplicas: recent.length,
      readyReplicas: all.filter(isReady).length,
      availableReplicas: available,
      ...(all.length > available && { unavailableReplicas: all.length - available }),
    });
  }
}

const hashIn = ({ metadata }: Pod): string => metadata.labels?.[hashLabel] ?? '';

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
}

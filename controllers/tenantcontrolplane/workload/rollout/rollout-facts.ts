import type { Deployment, EndpointSlice, Pod, ReplicaSet, Service } from '../../../../api/core/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import { isOfSelector } from '../../sleep/waking/slice-of-selector.ts';

/** The label by which the Deployment controller distinguishes the pods of different templates. */
export const hashLabel = 'pod-template-hash';

/** The annotation by which it numbers the templates of a Deployment. */
const revisionAnnotation = 'deployment.kubernetes.io/revision';

/** A pod that is not being deleted. */
export interface RolloutPod {
  readonly name: string;
  readonly hash: string;
  readonly ready: boolean;
  readonly addresses: readonly string[];
  readonly node?: string | undefined;
  /** Why it will not become ready without a change, as the kubelet reports it. */
  readonly broken?: string | undefined;
}

/** What a rollout looks like in the management cluster. It is read from there each time: a manager may end between any two steps. */
export interface RolloutFacts {
  /** The hash of the pods that the Deployment wants; absent until its controller has seen the last change. */
  readonly newest?: string | undefined;
  /** False while ready pods of the newest template do not count as available, or that template is not known. */
  readonly isAtRest: boolean;
  /** The hash to which the Service is narrowed; absent while it selects all pods. */
  readonly selected?: string | undefined;
  readonly pods: readonly RolloutPod[];
  /** The names of the ready pods that the Service's EndpointSlices lead to. */
  readonly reached: ReadonlySet<string>;
  /** How many pods the Deployment wants. */
  readonly wanted: number;
}

/** What the facts are read from. */
export interface RolloutSources {
  readonly deployment: Deployment;
  readonly service: Service | undefined;
  readonly pods: readonly Pod[];
  readonly replicaSets: readonly ReplicaSet[];
  readonly slices: readonly EndpointSlice[];
}

/** Reasons for which a container waits that do not go away by themselves, or only with luck. */
const brokenReasons = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'CrashLoopBackOff',
  'RunContainerError',
]);

type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

/** Why a container will not become ready; undefined when it may. */
function troubleOf({ name, ready, state, lastState, restartCount }: ContainerStatus): string | undefined {
  const { reason = '', message = '' } = state?.waiting ?? {};
  if (brokenReasons.has(reason)) return `container ${name}: ${[reason, message].filter(Boolean).join(': ')}`;
  // Between two starts it looks like one that is starting.
  const exitCode = (state?.terminated ?? lastState?.terminated)?.exitCode ?? 0;
  if (ready || restartCount < 2 || exitCode === 0) return undefined;
  return `container ${name}: ended with code ${exitCode}, restarted ${restartCount} times`;
}

function brokenBecause({ status }: Pod): string | undefined {
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers.map(troubleOf).find((trouble) => trouble !== undefined);
}

/** The address of the pod's first family comes first. */
function addressesOf({ status }: Pod): readonly string[] {
  const listed = (status?.podIPs ?? []).map(({ ip }) => ip);
  return listed.length > 0 || status?.podIP === undefined ? listed : [status.podIP];
}

function podOf(pod: Pod): RolloutPod {
  const ready = pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  return {
    name: pod.metadata.name,
    hash: pod.metadata.labels?.[hashLabel] ?? '',
    ready,
    addresses: addressesOf(pod),
    node: pod.spec?.nodeName,
    broken: ready ? undefined : brokenBecause(pod),
  };
}

const revisionOf = ({ metadata }: Resource): string => metadata.annotations?.[revisionAnnotation] ?? '';

/** The ReplicaSets of the Deployment, and not those of others with the same labels. */
export function ownReplicaSets({ metadata: { uid } }: Deployment, all: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return all.filter(({ metadata }) => metadata.ownerReferences?.some((reference) => reference.uid === uid) === true);
}

/**
 * The ReplicaSet of the template that the Deployment has; undefined until its controller has seen the last change. It has seen a change
 * that scales as well before it makes a ReplicaSet of the new template: then it counts none of the pods of the one before.
 */
function newestReplicaSet(deployment: Deployment, own: readonly ReplicaSet[]): ReplicaSet | undefined {
  const { metadata, status } = deployment;
  if (metadata.generation !== status?.observedGeneration) return undefined;
  const revision = revisionOf(deployment);
  const found = own.find((one) => revision !== '' && revisionOf(one) === revision);
  return (found?.status?.replicas ?? 0) === (status?.updatedReplicas ?? 0) ? found : undefined;
}

/** The facts of a rollout. */
export function rolloutFacts({ deployment, service, pods, replicaSets, slices }: RolloutSources): RolloutFacts {
  const own = ownReplicaSets(deployment, replicaSets);
  const hashes = new Set(own.map(({ metadata }) => metadata.labels?.[hashLabel]));
  const newest = newestReplicaSet(deployment, own);
  const { readyReplicas = 0, availableReplicas = 0 } = newest?.status ?? {};
  const endpoints = slices.filter(isOfSelector).flatMap((slice) => slice.endpoints ?? []);
  return {
    newest: newest?.metadata.labels?.[hashLabel],
    isAtRest: newest !== undefined && readyReplicas === availableReplicas,
    selected: service?.spec?.selector?.[hashLabel],
    pods: pods
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined && hashes.has(metadata.labels?.[hashLabel]))
      .map(podOf),
    reached: new Set(
      endpoints.flatMap(({ conditions, targetRef }) => (conditions?.ready === false ? [] : (targetRef?.name ?? []))),
    ),
    wanted: deployment.spec?.replicas ?? 0,
  };
}

/** The hash, if a pod with it is ready. */
export function readyWith({ pods }: Pick<RolloutFacts, 'pods'>, hash: string | undefined): string | undefined {
  return hash !== undefined && pods.some((pod) => pod.hash === hash && pod.ready) ? hash : undefined;
}

/**
 * The hash of the pods that serve: of those that the Service selects, or of most that are ready; undefined when none is.
 */
export function servingHash({ pods, selected }: Pick<RolloutFacts, 'pods' | 'selected'>): string | undefined {
  const ready = Map.groupBy(
    pods.filter((pod) => pod.ready && pod.hash !== ''),
    ({ hash }) => hash,
  );
  const [most] = [...ready].toSorted(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1));
  return readyWith({ pods }, selected) ?? most?.[0];
}

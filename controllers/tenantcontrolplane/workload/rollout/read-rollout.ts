import { kinds } from '../../../../api/core/kinds.ts';
import type { Deployment, Service } from '../../../../api/core/kinds.ts';
import { tenantObjects } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../../dependencies.ts';
import { podSelectorText } from '../../shared/pod-selector.ts';
import { hashLabel, ownReplicaSets, rolloutFacts } from './rollout-facts.ts';
import type { RolloutFacts } from './rollout-facts.ts';

/** What a rollout is read for. */
export interface RolloutSubject {
  readonly tcp: TenantControlPlane;
  readonly deployment: Deployment;
  readonly service: Service | undefined;
}

/** A rollout as the management cluster shows it. */
export interface SeenRollout {
  readonly facts: RolloutFacts;
  /** The templates of pods by their hash. */
  readonly templates: ReadonlyMap<string, object>;
}

/** Reads how far a rollout is, from the API server itself. */
export async function readRollout(
  { tcp, deployment, service }: RolloutSubject,
  { cluster }: Pick<Dependencies, 'cluster'>,
  { signal }: Pick<Context, 'signal'>,
): Promise<SeenRollout> {
  const { namespace, name } = tcp.metadata;
  const labelSelector = podSelectorText(tcp);
  const ofService = `kubernetes.io/service-name=${tenantObjects(name).service}`;
  const [pods, replicaSets, slices] = await Promise.all([
    cluster.list(kinds.Pod, { namespace, labelSelector, signal }),
    cluster.list(kinds.ReplicaSet, { namespace, labelSelector, signal }),
    cluster.list(kinds.EndpointSlice, { namespace, labelSelector: ofService, signal }),
  ]);
  const read = { pods: pods.items, replicaSets: replicaSets.items, slices: slices.items };
  const templates = ownReplicaSets(deployment, replicaSets.items).flatMap(({ metadata, spec }) => {
    const hash = metadata.labels?.[hashLabel];
    return hash === undefined || spec?.template === undefined ? [] : [[hash, spec.template] as const];
  });
  return { facts: rolloutFacts({ deployment, service, ...read }), templates: new Map(templates) };
}

import { kinds } from '../../../../api/core/kinds.ts';
import type { EndpointSlice } from '../../../../api/core/kinds.ts';
import type { Key } from '../../../../api/meta.ts';
import { activatorObjects } from '../../../../api/names.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Clock } from '../../../../runtime/clock.ts';
import type { InformerFactory } from '../../../../runtime/cache/informer-factory.ts';
import type { InformerSelection } from '../../../../runtime/cache/informer.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import type { Watch } from '../../../../runtime/reconcile/controller.ts';
import { ActivatorPorts, portTableWatch } from './activator-ports.ts';
import { activatorPods } from './activator-slices.ts';
import type { ActivatorPod } from './activator-slices.ts';
import { isWakeable } from './is-wakeable.ts';
import { LeftPorts } from './left-ports.ts';
import { WakeRequestsOf, wakeRequestWatch } from './wake-requests-of.ts';

type Informers = Pick<InformerFactory, 'informer'>;

const podSlices = (namespace: string): InformerSelection<EndpointSlice> => ({
  kind: kinds.EndpointSlice,
  namespace,
  labelSelector: `kubernetes.io/service-name=${activatorObjects.service}`,
});

/** The tenants that sleep and wake up with a call, when other pods of the activator are ready. */
function ledTo(informers: Informers): Watch<EndpointSlice>['keys'] {
  return (old, now): readonly Key[] => {
    const [before, after] = [old, now].map((slice) =>
      JSON.stringify(activatorPods(slice === undefined ? [] : [slice])),
    );
    if (before === after) return [];
    const tenants = informers.informer({ kind: tenantControlPlane }).list();
    return tenants.filter(isWakeable).map(({ metadata }) => ({ namespace: metadata.namespace, name: metadata.name }));
  };
}

/** What the manager watches in its own namespace, so that calls wake tenants up. */
export function wakingWatches(informers: Informers, namespace: string): readonly Watch[] {
  if (namespace === '') return [];
  const pods: Watch<EndpointSlice> = { ...podSlices(namespace), keys: ledTo(informers) };
  return [wakeRequestWatch(namespace, informers), portTableWatch(namespace), pods] as readonly Watch[];
}

/** What the manager and the activator tell each other. */
export class Waking {
  readonly requests: WakeRequestsOf;
  readonly ports: ActivatorPorts;
  /** False for a manager without a namespace, which no activator can be beside. */
  readonly isPossible: boolean;
  readonly #informers: Informers;
  readonly #namespace: string;

  constructor(parts: {
    readonly cluster: Cluster;
    readonly informers: Informers;
    readonly namespace: string;
    readonly clock: Clock;
  }) {
    this.requests = new WakeRequestsOf(parts);
    this.ports = new ActivatorPorts({ ...parts, leftovers: new LeftPorts(parts) });
    this.#informers = parts.informers;
    this.#namespace = parts.namespace;
    this.isPossible = parts.namespace !== '';
  }

  /** The pods of the activator that are ready. */
  pods(): readonly ActivatorPod[] {
    if (!this.isPossible) return [];
    return activatorPods(this.#informers.informer(podSlices(this.#namespace)).list());
  }
}

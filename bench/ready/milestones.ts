import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { Observation } from './observer.ts';

/** What happens on the way to a control plane, in the order in which it usually does. */
export const milestones = [
  'request answered',
  'Service exists',
  'first Secret exists',
  'last Secret exists',
  'Deployment exists',
  'pod exists',
  'pod scheduled',
  'pod has an address',
  'containers run',
  'pod answers /readyz',
  'pod Ready',
  'endpoint ready',
  'Service answers /readyz',
  'a replica ready',
  'all replicas ready',
  'status Ready',
  'add-ons enabled',
] as const;
export type Milestone = (typeof milestones)[number];

/** When what was reached first, in milliseconds after the create request was sent. */
export type Timeline = Partial<Record<Milestone, number>>;

/** Marks milestones, each once. */
export class TimelineRecorder {
  readonly #sent: number;
  readonly #reached = new Map<Milestone, number>();

  /** @param sent when the create request was sent, in milliseconds of `performance.now()`. */
  constructor(sent: number) {
    this.#sent = sent;
  }

  /** Takes the first time that is given for a milestone; `last Secret exists` moves on until the Deployment is there. */
  reach(milestone: Milestone, at: number): void {
    const moves = milestone === 'last Secret exists' && !this.#reached.has('Deployment exists');
    if (moves || !this.#reached.has(milestone)) this.#reached.set(milestone, at - this.#sent);
  }

  /** Takes what a change of an object shows. */
  see({ at, type, kind, object }: Observation): void {
    if (type === 'DELETED' || at < this.#sent) return;
    for (const milestone of shownBy(kind, object)) this.reach(milestone, at);
  }

  has(milestone: Milestone): boolean {
    return this.#reached.has(milestone);
  }

  get timeline(): Timeline {
    return Object.fromEntries(this.#reached);
  }
}

interface PodStatus {
  readonly podIP?: string;
  readonly containerStatuses?: readonly { readonly state?: { readonly running?: unknown } }[];
}

interface TenantStatus {
  readonly kubernetesResources?: { readonly version?: { readonly status?: string } };
  readonly addons?: Readonly<Record<string, { readonly enabled?: boolean } | undefined>>;
}

interface Slice {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[];
}

function shownBy(kind: string, object: PlainObject): readonly Milestone[] {
  const found: (Milestone | false)[] = [];
  if (kind === 'Service') found.push('Service exists');
  if (kind === 'Secret') found.push('first Secret exists', 'last Secret exists');
  if (kind === 'Deployment') found.push('Deployment exists', ...readiness(object));
  if (kind === 'Pod') found.push(...shownByPod(object));
  if (kind === 'EndpointSlice') {
    const ready = (object as Slice).endpoints?.some(({ conditions }) => conditions?.ready === true) ?? false;
    found.push(ready && 'endpoint ready');
  }
  if (kind === 'TenantControlPlane') {
    const { kubernetesResources, addons } = (object.status ?? {}) as TenantStatus;
    const enabled = addons?.coreDNS?.enabled === true && addons.kubeProxy?.enabled === true;
    found.push(kubernetesResources?.version?.status === 'Ready' && 'status Ready', enabled && 'add-ons enabled');
  }
  return found.filter((milestone) => milestone !== false);
}

function shownByPod({ spec, status }: PlainObject): readonly (Milestone | false)[] {
  const { podIP = '', containerStatuses = [] } = (status ?? {}) as PodStatus;
  const running = containerStatuses.length > 0 && containerStatuses.every(({ state }) => state?.running !== undefined);
  const ready = status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True');
  return [
    'pod exists',
    spec?.nodeName !== undefined && 'pod scheduled',
    podIP !== '' && 'pod has an address',
    running && 'containers run',
    ready === true && 'pod Ready',
  ];
}

function readiness({ spec, status }: PlainObject): readonly (Milestone | false)[] {
  const { readyReplicas = 0 } = (status ?? {}) as { readonly readyReplicas?: number };
  return [readyReplicas > 0 && 'a replica ready', readyReplicas === spec?.replicas && 'all replicas ready'];
}

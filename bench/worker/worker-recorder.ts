import { hasCondition } from '../../e2e/cluster/kubernetes-client.ts';
import type { PlainObject } from '../../e2e/cluster/kubernetes-client.ts';
import type { WorkerMilestone, WorkerTimeline } from './worker-rows.ts';

/** Marks the milestones of one worker, each once. */
export class WorkerRecorder {
  readonly #sent: number;
  readonly #reached = new Map<WorkerMilestone, number>();

  /** @param sent when the first request was sent, in milliseconds of `performance.now()`. */
  constructor(sent: number) {
    this.#sent = sent;
  }

  reach(milestone: WorkerMilestone, at: number): void {
    if (!this.#reached.has(milestone)) this.#reached.set(milestone, at - this.#sent);
  }

  /** Takes what an object of the management cluster, or a Node of the tenant, shows. */
  see(kind: string, object: PlainObject, at: number): void {
    for (const milestone of shownBy(kind, object)) this.reach(milestone, at);
  }

  has(milestone: WorkerMilestone): boolean {
    return this.#reached.has(milestone);
  }

  get timeline(): WorkerTimeline {
    return Object.fromEntries(this.#reached);
  }
}

interface ControlPlaneStatus {
  readonly kubernetesResources?: { readonly version?: { readonly status?: string } };
}

interface MachineSpec {
  readonly bootstrap?: { readonly dataSecretName?: string };
}

function shownBy(kind: string, object: PlainObject): readonly WorkerMilestone[] {
  const found: (WorkerMilestone | false)[] = [];
  if (kind === 'TenantControlPlane') {
    const { kubernetesResources } = (object.status ?? {}) as ControlPlaneStatus;
    found.push(kubernetesResources?.version?.status === 'Ready' && 'control plane Ready');
  }
  if (kind === 'Cluster') found.push(hasCondition('ControlPlaneInitialized')(object) && 'control plane initialized');
  if (kind === 'Machine') {
    const { bootstrap } = (object.spec ?? {}) as MachineSpec;
    found.push('Machine exists', bootstrap?.dataSecretName !== undefined && 'bootstrap data exists');
  }
  if (kind === 'Node') found.push('node exists', hasCondition('Ready')(object) && 'node Ready');
  return found.filter((milestone) => milestone !== false);
}

/** What the infrastructure provider's steps with a machine show. */
export const milestoneOfStep: Readonly<Record<string, WorkerMilestone>> = {
  starting: 'machine starts',
  joining: 'machine booted',
  joined: 'joined',
};

import { findCause } from './find-cause.ts';
import { podCause } from './pod-cause.ts';
import { conditionIn } from './situation.ts';
import type { Situation } from './situation.ts';
import { stepsOf } from './steps.ts';
import { timelineOf } from './timeline.ts';
import type { Explanation } from './explanation.ts';

/** What a person knows the control plane by. */
function factsOf({
  tenantControlPlane: tcp,
  stewardControlPlane: scp,
}: Situation): Pick<Explanation, 'version' | 'endpoint' | 'dataStore'> {
  const { status, spec } = tcp ?? {};
  const wanted = spec?.kubernetes.version ?? scp?.spec.version;
  const running = status?.kubernetesResources?.version?.version;
  const endpoint = status?.controlPlaneEndpoint;
  const dataStore = status?.storage?.dataStoreName ?? spec?.dataStore;
  return {
    version: { ...(wanted !== undefined && { wanted }), ...(running !== undefined && { running }) },
    ...(endpoint !== undefined && { endpoint }),
    ...(dataStore !== undefined && { dataStore }),
  };
}

/** Unknown, for example while a Secret is missing: the pods that run may answer all the time. */
function servesOf({ tenantControlPlane: tcp }: Situation): Pick<Explanation, 'serves'> {
  const { status = 'Unknown' } = conditionIn(tcp, 'ControlPlaneAvailable') ?? {};
  return status === 'Unknown' ? {} : { serves: status === 'True' };
}

/** Explains why a control plane is as it is: the steps, the one cause that explains the others, and what to do. */
export function explain(situation: Situation): Explanation {
  const { tenantControlPlane: tcp, stewardControlPlane: scp, namespace, name, unread } = situation;
  const steps = stepsOf(tcp, podCause(situation)?.reason === 'PodsStarting');
  const cause = findCause(situation, steps);
  return {
    kind: scp === undefined ? 'TenantControlPlane' : 'StewardControlPlane',
    namespace,
    name,
    verdict: cause === undefined ? 'ready' : cause.passes ? 'waiting' : 'failed',
    ...servesOf(situation),
    ...factsOf(situation),
    steps,
    ...(cause !== undefined && { cause }),
    timeline: timelineOf(situation),
    unread,
  };
}

import { baselineChecks } from './baseline-checks.ts';
import type { Finding, PodCheck } from './check.ts';
import type { EvaluatedPod } from './evaluated-pod.ts';
import { restrictedChecks } from './restricted-checks.ts';
import type { PodSecurityStandard } from './standard.ts';

const superseded = new Set(restrictedChecks.map(({ supersedes }) => supersedes));

/** The checks of each standard: those of Kubernetes' pod-security-admission, in its latest version. */
export const checksOf: Readonly<Record<PodSecurityStandard, readonly PodCheck[]>> = {
  privileged: [],
  baseline: baselineChecks,
  restricted: [...baselineChecks.filter(({ id }) => !superseded.has(id)), ...restrictedChecks],
};

/** Everything in a pod that a standard does not permit. */
export function findingsOf(pod: EvaluatedPod, standard: PodSecurityStandard): readonly Finding[] {
  return checksOf[standard].flatMap(({ findings }) => findings(pod));
}

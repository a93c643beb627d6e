import { isDeepStrictEqual } from 'node:util';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { restricted } from '../shared/security-context.ts';
import { contextsAt } from './guarded-arguments.ts';
import type { Program } from './guarded-arguments.ts';
import { findingsOf } from './pod-security/findings.ts';
import type { EvaluatedPod } from './pod-security/evaluated-pod.ts';
import type { StandardInForce } from './pod-security/standard.ts';

const at = 'spec.controlPlane.deployment';

function rightsOf(tcp: TenantControlPlane, programs: readonly Program[]) {
  return programs.flatMap((program) => program.rights?.(tcp) ?? []);
}

/** What the author of a control plane adds to its pods, as the Pod Security Standards check it. */
function addedToPods(tcp: TenantControlPlane, programs: readonly Program[]): EvaluatedPod {
  const { deployment } = tcp.spec.controlPlane;
  const { additionalInitContainers = [], additionalContainers = [], additionalVolumes = [] } = deployment;
  return {
    containers: [
      ...additionalInitContainers.map((container, index) => ({
        at: `${at}.additionalInitContainers[${index}]`,
        container,
      })),
      ...additionalContainers.map((container, index) => ({ at: `${at}.additionalContainers[${index}]`, container })),
      // The author's fields win over ours, one by one.
      ...rightsOf(tcp, programs).flatMap(({ at: field, securityContext }) =>
        securityContext === undefined
          ? []
          : [{ at: field, container: { securityContext: { ...restricted(), ...securityContext } } }],
      ),
    ],
    ...(deployment.podSecurityContext !== undefined && {
      whole: { at, spec: { securityContext: deployment.podSecurityContext } },
    }),
    volumes: additionalVolumes.map((volume, index) => ({ at: `${at}.additionalVolumes[${index}]`, volume })),
    annotations: {
      at: `${at}.podAdditionalMetadata.annotations`,
      values: deployment.podAdditionalMetadata?.annotations ?? {},
    },
  };
}

/** True when some standard could refuse the author's additions: only then the standard in force matters. */
export function needsStandard(tcp: TenantControlPlane, programs: readonly Program[]): boolean {
  return findingsOf(addedToPods(tcp, programs), 'restricted').length > 0;
}

/** What decides the rights of the checked containers: the programs of one container may use what was meant for another. */
function powersOf(tcp: TenantControlPlane, programs: readonly Program[]): unknown {
  const { containers, volumes, annotations, whole } = addedToPods(tcp, programs);
  const { registrySettings, additionalVolumeMounts } = tcp.spec.controlPlane.deployment;
  const ofAppArmor = Object.entries(annotations.values).filter(([name]) => name.includes('apparmor'));
  const images = rightsOf(tcp, programs).map(({ image }) => image);
  return { containers, volumes, whole, ofAppArmor, registrySettings, additionalVolumeMounts, images };
}

/** True when nothing relevant has changed: stored values stay valid, even if another standard is in force now. */
export function keepsPowers(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
  programs: readonly Program[],
): boolean {
  return old !== undefined && isDeepStrictEqual(powersOf(tcp, programs), powersOf(old, programs));
}

/** The checks name fields of a pod; two of them have other names here. */
function authorsField(field: string): string {
  if (field.startsWith(`${at}.securityContext`)) return field.replace('.securityContext', '.podSecurityContext');
  return field.startsWith(contextsAt) ? field.replace('.securityContext', '') : field;
}

/** Validates the author's additions to the pods against the standard. */
export function validatePodSecurity(
  tcp: TenantControlPlane,
  { standard, saidBy }: StandardInForce,
  programs: readonly Program[],
): readonly InvalidInput[] {
  return findingsOf(addedToPods(tcp, programs), standard).map(({ field, value, wrong, instead }) => ({
    field: authorsField(field),
    value,
    reason: `${wrong}, which the Pod Security Standard ${standard} forbids; the standard comes from ${saidBy}`,
    remedy: `${instead}, or ask the operator to label the namespace with a less restrictive standard`,
  }));
}

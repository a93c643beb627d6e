import { isDeepStrictEqual } from 'node:util';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { restricted } from '../components/security-context.ts';
import { findingsOf } from './pod-security/findings-of.ts';
import type { JudgedPod } from './pod-security/judged-pod.ts';
import type { StandardInForce } from './pod-security/standard.ts';

const at = 'spec.controlPlane.deployment';

/** What the author of a control plane adds to its pods, as the Pod Security Standards judge it. */
export function addedToPods({ spec }: TenantControlPlane): JudgedPod {
  const { deployment } = spec.controlPlane;
  const { additionalInitContainers = [], additionalContainers = [], additionalVolumes = [] } = deployment;
  const ofTunnel = spec.addons.konnectivity?.server.securityContext;
  return {
    containers: [
      ...additionalInitContainers.map((container, index) => ({
        at: `${at}.additionalInitContainers[${index}]`,
        container,
      })),
      ...additionalContainers.map((container, index) => ({ at: `${at}.additionalContainers[${index}]`, container })),
      // Its fields win over ours, one by one.
      ...(ofTunnel === undefined
        ? []
        : [
            {
              at: 'spec.addons.konnectivity.server',
              container: { securityContext: { ...restricted(), ...ofTunnel } },
            },
          ]),
    ],
    volumes: additionalVolumes.map((volume, index) => ({ at: `${at}.additionalVolumes[${index}]`, volume })),
    annotations: {
      at: `${at}.podAdditionalMetadata.annotations`,
      values: deployment.podAdditionalMetadata?.annotations ?? {},
    },
  };
}

/** True when some standard could refuse it: only then it matters which one counts. */
export function needsStandard(tcp: TenantControlPlane): boolean {
  return findingsOf(addedToPods(tcp), 'restricted').length > 0;
}

/** What decides who runs with what is judged: programs of one container may use what was meant for another. */
function powersOf(tcp: TenantControlPlane): unknown {
  const { containers, volumes, annotations } = addedToPods(tcp);
  const { registrySettings, additionalVolumeMounts } = tcp.spec.controlPlane.deployment;
  const ofAppArmor = Object.entries(annotations.values).filter(([name]) => name.includes('apparmor'));
  const { image, version } = tcp.spec.addons.konnectivity?.server ?? {};
  return { containers, volumes, ofAppArmor, registrySettings, additionalVolumeMounts, image, version };
}

/** True when nothing that counts for it was changed: what is stored stays as it is, whatever standard counts by now. */
export function keepsPowers(tcp: TenantControlPlane, old: TenantControlPlane | undefined): boolean {
  return old !== undefined && isDeepStrictEqual(powersOf(tcp), powersOf(old));
}

/** What the author adds to the pods that the standard does not permit. */
export function podSecurityComplaints(
  tcp: TenantControlPlane,
  { standard, saidBy }: StandardInForce,
): readonly InvalidInput[] {
  return findingsOf(addedToPods(tcp), standard).map(({ field, value, wrong, instead }) => ({
    field,
    value,
    reason: `${wrong}, which the Pod Security Standard ${standard} forbids; it counts here by ${saidBy}`,
    remedy: `${instead}, or have an administrator label the namespace with a wider standard`,
  }));
}

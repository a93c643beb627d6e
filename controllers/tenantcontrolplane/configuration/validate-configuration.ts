import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { readVersion, versionText } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { configurationVersion, firstMinor } from './configuration-versions.ts';
import { validateAdmission } from './validate-admission.ts';
import { validateAudit } from './validate-audit.ts';
import { validateAuthentication } from './validate-authentication.ts';
import { validateAuthorization } from './validate-authorization.ts';
import { validateConflicts } from './validate-conflicts.ts';

const versioned = [
  ['authentication', 'AuthenticationConfiguration', '--oidc-… flags'],
  ['authorization', 'AuthorizationConfiguration', '--authorization-webhook-… flags'],
] as const;

/** Fields that the version has nothing for. */
function validateMinor(
  { spec }: Pick<TenantControlPlane, 'spec'>,
  version: KubernetesVersion,
): readonly InvalidInput[] {
  return versioned.flatMap(([part, kind, instead]) => {
    if (spec.kubernetes[part] === undefined || configurationVersion(kind, version) !== undefined) return [];
    const field = `spec.kubernetes.${part}`;
    return [
      {
        field,
        reason: `cannot be used in Kubernetes ${versionText(version)}: it needs 1.${firstMinor(kind)}, the first minor in which ${kind} is not an alpha feature`,
        remedy: `set spec.kubernetes.version to v1.${firstMinor(kind)} or later, or use ${instead} in spec.controlPlane.deployment.extraArgs.apiServer`,
      },
    ];
  });
}

/**
 * All that kube-apiserver would refuse in what the spec configures, and what would undo it. `version` is the one that the pods get, by
 * default that of the spec.
 */
export function validateConfiguration(
  tcp: Pick<TenantControlPlane, 'spec'>,
  version = readVersion(tcp.spec.kubernetes.version),
): readonly InvalidInput[] {
  return [
    ...(version === undefined ? [] : validateMinor(tcp, version)),
    ...validateAuthentication(tcp),
    ...validateAuthorization(tcp),
    ...validateAudit(tcp),
    ...validateAdmission(tcp),
    ...validateConflicts(tcp),
  ];
}

import { listAdmissionControllers } from '../../../api/embedded/admission-controllers.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import {
  checkUpgrade,
  newestMinor,
  parseSupportedVersion,
  parseVersion,
  versionText,
} from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { installedVersion, isVersionHeld } from '../shared/held-version.ts';
import { collectErrors } from '../../../kubeadm/collect-errors.ts';

const field = 'spec.kubernetes.version';

/** The minor of Kubernetes 1 that removed an admission plugin: kube-apiserver does not start with its name. */
const goneIn: Readonly<Record<string, number>> = {
  DenyEscalatingExec: 21,
  DenyExecOnPrivileged: 21,
  PersistentVolumeLabel: 31,
  PodSecurityPolicy: 25,
  SecurityContextDeny: 30,
};

function validatePlugin(tcp: TenantControlPlane, version: KubernetesVersion): readonly InvalidInput[] {
  const given: unknown = tcp.spec.kubernetes.admissionControllers;
  const at = 'spec.kubernetes.admissionControllers';
  if (typeof given !== 'string' && !Array.isArray(given)) {
    return [{ field: at, reason: 'is neither a list nor a string', remedy: 'use a list of admission plugins' }];
  }
  return listAdmissionControllers(tcp.spec.kubernetes.admissionControllers).flatMap((plugin, index) => {
    const gone = goneIn[plugin];
    if (gone === undefined || version.minor < gone) return [];
    const reason = `was removed in Kubernetes v1.${gone}, so kube-apiserver ${versionText(version)} would not start`;
    return [{ field: `${at}[${index}]`, value: plugin, reason, remedy: 'remove it' }];
  });
}

/**
 * Validates the version, also against the previous one in the spec and the installed one: a rollout that is under way must not
 * lead to skipping a minor.
 */
export function validateVersion(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
  newest = newestMinor,
): readonly InvalidInput[] {
  let wanted: KubernetesVersion | undefined;
  const unusable = collectErrors(() => (wanted = parseSupportedVersion(tcp.spec.kubernetes.version, field, newest)));
  const version = wanted;
  // What was accepted before is not validated again: a minor that is no longer hosted must not block finalizers and labels.
  const stays = old?.spec.kubernetes.version === tcp.spec.kubernetes.version;
  if (version === undefined) return stays ? [] : unusable;
  // A held version has not changed anything, so it does not count.
  const starts = [
    old === undefined || isVersionHeld(old) ? undefined : old.spec.kubernetes.version,
    old && installedVersion(old),
  ];
  const known = starts.filter((text): text is string => text !== undefined && text !== '');
  const ways = (stays ? [] : known)
    .map((text) =>
      collectErrors(() => {
        checkUpgrade(parseVersion(text, field), version, field, newest);
      }),
    )
    .find((found) => found.length > 0);
  return [...(ways ?? []), ...validatePlugin(tcp, version)];
}

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
import { installedVersion, isVersionHeld } from '../components/upgrade/held-version.ts';
import { collectComplaints } from '../../../kubeadm/collect-complaints.ts';

const field = 'spec.kubernetes.version';

/** The minor of Kubernetes 1 in which an admission plugin was gone: kube-apiserver does not start with its name. */
const goneIn: Readonly<Record<string, number>> = {
  DenyEscalatingExec: 21,
  DenyExecOnPrivileged: 21,
  PersistentVolumeLabel: 31,
  PodSecurityPolicy: 25,
  SecurityContextDeny: 30,
};

function pluginComplaints(tcp: TenantControlPlane, version: KubernetesVersion): readonly InvalidInput[] {
  const given: unknown = tcp.spec.kubernetes.admissionControllers;
  const at = 'spec.kubernetes.admissionControllers';
  if (typeof given !== 'string' && !Array.isArray(given)) {
    return [{ field: at, reason: 'is neither a list nor a string', remedy: 'give a list of admission plugins' }];
  }
  return listAdmissionControllers(tcp.spec.kubernetes.admissionControllers).flatMap((plugin, index) => {
    const gone = goneIn[plugin];
    if (gone === undefined || version.minor < gone) return [];
    const reason = `is gone since Kubernetes v1.${gone}, and kube-apiserver ${versionText(version)} would not start`;
    return [{ field: `${at}[${index}]`, value: plugin, reason, remedy: 'remove it' }];
  });
}

/**
 * What is wrong with the version, also seen from the one that the author had before and from the one that is installed: a
 * rollout that is under way does not allow to skip a minor.
 */
export function versionComplaints(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
  newest = newestMinor,
): readonly InvalidInput[] {
  let wanted: KubernetesVersion | undefined;
  const unusable = collectComplaints(
    () => (wanted = parseSupportedVersion(tcp.spec.kubernetes.version, field, newest)),
  );
  const version = wanted;
  // What was accepted before is not judged again: a minor that is hosted no more must not hold up finalizers and labels.
  const stays = old?.spec.kubernetes.version === tcp.spec.kubernetes.version;
  if (version === undefined) return stays ? [] : unusable;
  // A version that is held back has not touched anything: the wish for it does not count.
  const starts = [
    old === undefined || isVersionHeld(old) ? undefined : old.spec.kubernetes.version,
    old && installedVersion(old),
  ];
  const known = starts.filter((text): text is string => text !== undefined && text !== '');
  const ways = (stays ? [] : known)
    .map((text) =>
      collectComplaints(() => {
        checkUpgrade(parseVersion(text, field), version, field, newest);
      }),
    )
    .find((found) => found.length > 0);
  return [...(ways ?? []), ...pluginComplaints(tcp, version)];
}

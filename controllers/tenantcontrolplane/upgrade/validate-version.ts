import { listAdmissionControllers } from '../../../api/embedded/admission-controllers.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { refuseVersion } from '../../../kubeadm/refuse-version.ts';
import { newestMinor, versionText } from '../../../kubeadm/versions.ts';
import type { KubernetesVersion } from '../../../kubeadm/versions.ts';
import { versionFacts } from './version-facts.ts';
import { versionUnderWay } from './version-under-way.ts';

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
 * Validates the version, also against the installed one and the previous one in the spec: a rollout that is under way must not lead
 * to skipping a minor.
 */
export function validateVersion(
  tcp: TenantControlPlane,
  old: TenantControlPlane | undefined,
  newest = newestMinor,
): readonly InvalidInput[] {
  const { version } = tcp.spec.kubernetes;
  const { wanted } = versionFacts({ tcp });
  const starts = old === undefined ? [] : [versionFacts({ tcp: old }).installed, versionUnderWay(old, newest)];
  const from = starts.filter((start) => start !== undefined);
  const refusal = refuseVersion(version, { field, from, newest });
  // What was accepted before is not validated again: a minor that is no longer hosted must not block finalizers and labels.
  if (refusal !== undefined && old?.spec.kubernetes.version === version) return [];
  const plugins = wanted === undefined ? [] : validatePlugin(tcp, wanted);
  return refusal === undefined ? plugins : [refusal, ...plugins];
}

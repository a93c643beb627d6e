import type { Infer } from '../schema.ts';
import { described, foreign, list, oneOf } from '../schema.ts';

/** Every admission plugin that may be named. Some no longer exist in current Kubernetes versions. */
export const admissionController = oneOf(
  'AlwaysAdmit',
  'AlwaysDeny',
  'AlwaysPullImages',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'DenyEscalatingExec',
  'DenyExecOnPrivileged',
  'DenyServiceExternalIPs',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'ImagePolicyWebhook',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'MutatingAdmissionWebhook',
  'NamespaceAutoProvision',
  'NamespaceExists',
  'NamespaceLifecycle',
  'NodeRestriction',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'PersistentVolumeLabel',
  'PodNodeSelector',
  'PodSecurity',
  'PodSecurityPolicy',
  'PodTolerationRestriction',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'SecurityContextDeny',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionWebhook',
);
export type AdmissionController = Infer<typeof admissionController>;

/**
 * The plugins that a TenantControlPlane enables by default, in addition to the defaults of kube-apiserver. The list of
 * the Go Steward lacks `NodeRestriction`, which kubeadm always enables: without it, a worker may label and report other
 * nodes.
 */
export const defaultAdmissionControllers = [
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'LimitRanger',
  'MutatingAdmissionWebhook',
  'NamespaceLifecycle',
  'NodeRestriction',
  'PersistentVolumeClaimResize',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionWebhook',
] as const satisfies readonly AdmissionController[];

const names = (admissionController.openapi.enum ?? []).join('|');

/**
 * A list of admission plugins, or one comma-separated string. Structural schemas have no unions: the value has no type,
 * so that a string is accepted; `pattern` applies only to strings and `items` only to lists. Any other value (a number,
 * an object) is rejected by the validating webhook.
 */
export const admissionControllers = described(
  foreign<readonly AdmissionController[] | string>({
    'x-kubernetes-preserve-unknown-fields': true,
    pattern: `^(${names})(,(${names}))*$`,
    items: admissionController.openapi,
  }),
  'Admission plugins to enable in addition to the defaults of kube-apiserver: a list, or one comma-separated string.',
);

/** Accepts a list only. */
export const admissionControllerList = described(
  list(admissionController),
  'Admission plugins to enable in addition to the defaults of kube-apiserver.',
);

/** Converts either form to a list. Drops empty names, and spaces around names, of the string form. */
export const listAdmissionControllers = (value: readonly string[] | string): readonly string[] =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
    : value;

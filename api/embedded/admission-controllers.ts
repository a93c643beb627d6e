import type { Infer } from '../schema.ts';
import { described, foreign, list, oneOf } from '../schema.ts';

/** Every admission plugin that may be named; several are gone from today's Kubernetes but were valid once. */
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
 * What a TenantControlPlane enables when its author names nothing. kube-apiserver's own defaults stay enabled besides. The list
 * of the Go Steward lacks `NodeRestriction`, which kubeadm always enables: without it a worker may label and report other nodes.
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
 * A list of admission plugins, or one string that names them joined by commas. A structural schema has no union: the
 * value has no type, so that the string passes, and `pattern` judges only strings as `items` judges only lists. What
 * is neither (a number, an object) is refused by the validating webhook.
 */
export const admissionControllers = described(
  foreign<readonly AdmissionController[] | string>({
    'x-kubernetes-preserve-unknown-fields': true,
    pattern: `^(${names})(,(${names}))*$`,
    items: admissionController.openapi,
  }),
  'Admission plugins enabled besides the defaults of kube-apiserver: a list, or one string of names joined by commas.',
);

/** The plain form: a list only. */
export const admissionControllerList = described(
  list(admissionController),
  'Admission plugins enabled besides the defaults of kube-apiserver.',
);

/** The list, whichever form the author chose. Names that are empty or surrounded by spaces are cleaned. */
export const listAdmissionControllers = (value: readonly string[] | string): readonly string[] =>
  typeof value === 'string'
    ? value
        .split(',')
        .map((name) => name.trim())
        .filter((name) => name !== '')
    : value;

import type { Admission } from '../../../api/embedded/admission.ts';
import { toYaml } from '../../../kubeadm/to-yaml.ts';

/** The namespace of the add-ons that a control plane applies in its tenant, some of them privileged. */
const addonNamespace = 'kube-system';

function podSecurity({ defaults = {}, exemptions = {} }: NonNullable<Admission['podSecurity']>): object {
  const { usernames = [], runtimeClasses = [], namespaces = [] } = exemptions;
  return {
    apiVersion: 'pod-security.admission.config.k8s.io/v1',
    kind: 'PodSecurityConfiguration',
    defaults: {
      enforce: defaults.enforce ?? 'privileged',
      'enforce-version': defaults.enforceVersion ?? 'latest',
      audit: defaults.audit ?? 'privileged',
      'audit-version': defaults.auditVersion ?? 'latest',
      warn: defaults.warn ?? 'privileged',
      'warn-version': defaults.warnVersion ?? 'latest',
    },
    exemptions: { usernames, runtimeClasses, namespaces: [...new Set([addonNamespace, ...namespaces])] },
  };
}

function eventRateLimit({ limits }: NonNullable<Admission['eventRateLimit']>): object {
  return { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration', limits };
}

/** The AdmissionConfiguration, whose v1 every supported minor reads, with the configuration of the plugins in it. */
export function admissionFile(admission: Admission): string {
  return toYaml({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AdmissionConfiguration',
    plugins: [
      ...(admission.podSecurity === undefined
        ? []
        : [{ name: 'PodSecurity', configuration: podSecurity(admission.podSecurity) }]),
      ...(admission.eventRateLimit === undefined
        ? []
        : [{ name: 'EventRateLimit', configuration: eventRateLimit(admission.eventRateLimit) }]),
    ],
  });
}

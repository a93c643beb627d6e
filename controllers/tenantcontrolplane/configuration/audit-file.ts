import type { Audit } from '../../../api/embedded/audit.ts';
import { toYaml } from '../../../kubeadm/to-yaml.ts';
import type { Arguments } from '../shared/arguments.ts';
import { auditKubeconfig } from './webhooks.ts';

/** Name of the file with the audit policy. */
export const auditPolicyFileName = 'audit-policy.yaml';

/** The audit Policy, whose v1 every supported minor reads. */
export function auditPolicyFile({ policy }: Audit): string {
  return toYaml({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', ...policy });
}

/**
 * The flags of kube-apiserver about its audit log. The webhook is called in batches: with `blocking`, every request would wait for it,
 * those of nodes and of the manager as well.
 */
export function auditArguments({ log, webhook }: Audit, folder: string): Arguments {
  return {
    'audit-policy-file': `${folder}/${auditPolicyFileName}`,
    ...(log === true && { 'audit-log-path': '-' }),
    ...(webhook !== undefined && {
      'audit-webhook-config-file': `${folder}/${auditKubeconfig}`,
      'audit-webhook-mode': 'batch',
      ...(webhook.batchMaxSize !== undefined && { 'audit-webhook-batch-max-size': String(webhook.batchMaxSize) }),
      ...(webhook.batchMaxWaitSeconds !== undefined && {
        'audit-webhook-batch-max-wait': `${webhook.batchMaxWaitSeconds}s`,
      }),
    }),
  };
}

import { backgroundFlowSchema } from '../../api/names.ts';

/**
 * FlowSchemas of kube-apiserver whose requests are no use: those of its own loopback client and of members of `system:masters` (`exempt`),
 * of health checks, of leader elections, of kube-controller-manager and kube-scheduler, of nodes, and of service accounts in kube-system.
 */
const ofKubernetes: ReadonlySet<string> = new Set([
  'exempt',
  'probes',
  'system-leader-election',
  'workload-leader-election',
  'endpoint-controller',
  'kube-controller-manager',
  'kube-scheduler',
  'kube-system-service-accounts',
  'system-node-high',
  'system-nodes',
]);

/** True if the requests that match the FlowSchema are no use of the control plane. */
export function isBackgroundFlow(flowSchema: string): boolean {
  return (
    ofKubernetes.has(flowSchema) ||
    flowSchema === backgroundFlowSchema ||
    flowSchema.startsWith(`${backgroundFlowSchema}-`)
  );
}

import { mergeArguments } from '../shared/arguments.ts';
import type { ControlPlaneInput } from '../shared/control-plane-input.ts';

const kubeconfig = '/etc/kubernetes/scheduler.conf';

/** kube-scheduler's flags; Steward's values win over the user's extra arguments. */
export function schedulerArguments({ tcp }: ControlPlaneInput): string[] {
  return mergeArguments(
    {
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '0.0.0.0',
      kubeconfig,
      'leader-elect': 'true',
    },
    { extra: tcp.spec.controlPlane.deployment.extraArgs?.scheduler, winner: 'operator' },
  );
}

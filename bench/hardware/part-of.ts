import type { Part } from './hardware-rows.ts';

/** A process by its command name, and the pod that it runs in. */
export interface PlacedProcess {
  /** As the kernel has it: at most 15 characters. */
  readonly command: string;
  /** Whose pod it is; undefined outside of these pods. */
  readonly pod: 'tenant' | 'datastore' | 'manager' | undefined;
}

const servers = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => name.slice(0, 15));

/** What a process of a machine that kubeadm made a control plane of belongs to. */
export function partOnKubeadm({ command }: Pick<PlacedProcess, 'command'>): Part {
  if (servers.includes(command)) return 'control planes';
  return command === 'etcd' ? 'etcd' : 'below';
}

/** What a process of the management node belongs to. The management cluster has a control plane of its own: it is below. */
export function partOnManagement({ command, pod }: PlacedProcess): Part {
  if (pod === undefined || command === 'pause') return 'below';
  if (pod === 'manager') return 'manager';
  return pod === 'datastore' ? 'etcd' : 'control planes';
}

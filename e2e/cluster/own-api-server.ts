import { readFile } from 'node:fs/promises';

import type { Machine } from './machines/machine.ts';

/**
 * Host process ids of the kube-apiserver that kubeadm runs on a machine. Those of hosted control planes run beside it under
 * the same name; only kubeadm's keeps its data on the machine itself.
 */
export async function ownApiServer(machine: Machine): Promise<readonly number[]> {
  const candidates = (await machine.processes()).filter(({ command }) => command === 'kube-apiserver');
  const found = await Promise.all(
    candidates.map(async ({ pid }) => {
      // One that has just ended is no candidate anymore.
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return line.split('\0').includes('--etcd-servers=https://127.0.0.1:2379') ? [pid] : [];
    }),
  );
  return found.flat();
}

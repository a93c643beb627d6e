import { readFile } from 'node:fs/promises';

import { isMissing } from '../cluster/machines/is-missing.ts';
import type { ManagementCluster } from '../cluster/management-cluster.ts';
import { kubectlTimeout } from './kubectl-timeout.ts';

/**
 * Kills the manager's process as `kill -9` does, whatever it is doing, and one that is about to end too; the kubelet starts it again.
 * @throws Error when it does not run.
 */
export async function killManager(cluster: ManagementCluster): Promise<void> {
  const processes = await cluster.machine.processes();
  const found = await Promise.all(processes.map(async ({ pid }) => ({ pid, words: await commandLine(pid) })));
  const managers = found.filter(({ words }) => words.includes('/manager') && words.includes('manager'));
  if (managers.length === 0) throw new Error(`No process of the manager runs on ${cluster.machine.name}.`);
  for (const { pid } of managers) process.kill(pid, 'SIGKILL');
}

/**
 * Replaces the manager's pod, so that the kubelet forgets how often it was killed and starts it again without delay after
 * the next time. Resolves when it is available.
 */
export async function renewManager(cluster: ManagementCluster): Promise<void> {
  const inNamespace = ['-n', 'steward-system'];
  const name = 'steward-controller-manager';
  await cluster.kubectl([...inNamespace, 'rollout', 'restart', `deployment/${name}`]);
  await cluster.kubectl([...inNamespace, 'rollout', 'status', `deployment/${name}`, kubectlTimeout(120)], {
    timeoutMs: 130_000,
    diagnose: () => cluster.diagnose('steward-system'),
  });
}

async function commandLine(pid: number): Promise<readonly string[]> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').then(
    (text) => text.split('\0'),
    (error: unknown) => {
      // It has ended since it was listed.
      if (isMissing(error)) return [];
      throw error;
    },
  );
}

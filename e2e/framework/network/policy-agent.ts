import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

import type { ManagementCluster } from '../../cluster/management-cluster.ts';
import type { Machine } from '../../cluster/machines/machine.ts';
import { isAlive } from '../../cluster/machines/process-identity.ts';
import { lastLines, runCommand } from '../../cluster/machines/run-command.ts';
import { startBackground } from '../../cluster/machines/start-background.ts';
import { ensurePackages } from '../../tools/debian-packages.ts';
import { resolveTools } from '../../tools/resolve.ts';
import type { Progress } from '../../tools/resolve.ts';
import { deadlineIn } from '../deadline-in.ts';

/** The programs that kube-router calls. */
const packages = ['ipset', 'iptables'] as const;

/** Its own `--cleanup-config` leaves everything (v2.1.0). */
const removeRules = `iptables-save -t filter | grep -Ev 'KUBE-(ROUTER|POD-FW|NWPLCY)-' | iptables-restore && ipset destroy`;

/** What enforces NetworkPolicies on one machine. Disposing ends it and removes its rules: nothing is enforced anymore. */
export interface PolicyAgent extends AsyncDisposable {
  /** Resolves when pods with these addresses have rules of their own. */
  covers(addresses: readonly string[]): Promise<void>;
}

/** Builds kube-router, if it is not there yet, and installs what it calls. */
export async function preparePolicyAgent(progress: Progress): Promise<void> {
  await ensurePackages(packages, progress);
  await resolveTools(['kube-router'], { progress });
}

/** Runs kube-router on a node of the cluster, with nothing of it but its firewall. */
export async function startPolicyAgent(cluster: ManagementCluster, machine: Machine): Promise<PolicyAgent> {
  const tools = await resolveTools(['kube-router']);
  const inside = ['nsenter', '-t', String(machine.init), '-n', '--'];
  const { process: agent, log } = await startBackground(cluster.harness, `kube-router-${machine.name}`, [
    ...inside,
    tools['kube-router'],
    `--kubeconfig=${cluster.kubeconfig}`,
    `--hostname-override=${machine.name}`,
    `--service-cluster-ip-range=${cluster.network.services}`,
    '--run-firewall=true',
    '--run-router=false',
    '--run-service-proxy=false',
    '--health-port=0',
    '--v=1',
  ]);
  const rules = async (): Promise<string> => {
    const [nsenter = '', ...words] = inside;
    return (await runCommand(nsenter, [...words, 'iptables-save', '-t', 'filter'])).stdout;
  };
  const until = async (what: string, isMet: () => Promise<boolean>): Promise<void> => {
    const deadline = deadlineIn(30_000);
    while (!(await isMet())) {
      if (Date.now() > deadline)
        throw new Error(
          `kube-router of ${machine.name} did not ${what}:\n${lastLines(await readFile(log, 'utf8'), 30)}`,
        );
      await pause(100);
    }
  };
  return {
    covers: (addresses) =>
      until(`make rules for ${addresses.join(', ')}`, async () => {
        const lines = (await rules()).split('\n');
        return addresses.every((address) =>
          lines.some((line) => line.includes(` ${address}/32 `) && line.includes('-j KUBE-POD-FW-')),
        );
      }),
    async [Symbol.asyncDispose]() {
      if (await isAlive(agent)) process.kill(agent.pid, 'SIGTERM');
      await until('end', async () => !(await isAlive(agent)));
      const [nsenter = '', ...words] = inside;
      await runCommand(nsenter, [...words, 'sh', '-c', removeRules]);
      expectNone(machine.name, await rules());
    },
  };
}

function expectNone(machine: string, rules: string): void {
  const left = rules.split('\n').filter((line) => /KUBE-(ROUTER|POD-FW|NWPLCY)-/.test(line));
  if (left.length > 0) throw new Error(`Rules of kube-router are left on ${machine}:\n${left.join('\n')}`);
}

import { readFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

import { readCgroupPlan } from '../../e2e/cluster/machines/cgroups.ts';
import { toolPin } from '../../e2e/tools/pins.ts';

/** What figures can only be compared with: the machine, and the versions of what ran on it. */
export interface MachineDescription {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly system: string;
  readonly cgroupVersion: 1 | 2;
  readonly node: string;
  readonly kubernetes: string;
  readonly etcd: string;
  readonly containerd: string;
  readonly runc: string;
  /** Average load of the last minute when this was written. */
  readonly load: number;
}

/** Describes this machine, without what a management cluster runs. */
export async function describeHost(): Promise<HostDescription> {
  const system = await readFile('/etc/os-release', 'utf8').then(
    (text) => /^PRETTY_NAME="?(.*?)"?$/m.exec(text)?.[1] ?? 'Linux',
    // The file is a custom of distributions, no must.
    () => 'Linux',
  );
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    system,
    cgroupVersion: (await readCgroupPlan()).version,
    node: process.version,
    load: loadavg()[0] ?? 0,
  };
}

/** Describes this machine and what runs on it. */
export async function describeMachine(kubernetes: string): Promise<MachineDescription> {
  return {
    ...(await describeHost()),
    kubernetes,
    etcd: toolPin('etcd').source.version,
    containerd: toolPin('containerd').source.version,
    runc: toolPin('runc').source.version,
  };
}

type HostDescription = Omit<MachineDescription, 'kubernetes' | 'etcd' | 'containerd' | 'runc'>;

/** The description in a few lines. */
export function machineText(machine: MachineDescription): string {
  return [
    `machine     ${machine.cores} cores (${machine.processor}), ${machine.memoryGiB} GiB, ${machine.system}, kernel ${machine.kernel}, cgroup v${machine.cgroupVersion}`,
    `versions    Kubernetes ${machine.kubernetes}, etcd ${machine.etcd}, containerd ${machine.containerd}, runc ${machine.runc}, Node.js ${machine.node} here`,
    `load        ${machine.load.toFixed(2)} at the start`,
  ].join('\n');
}

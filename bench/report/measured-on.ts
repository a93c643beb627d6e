import type { BenchResult } from './result-file.ts';

/** Where a result comes from, in sentences for a page: commit, day, command, machine and versions, and its note. */
export function measuredOn({ commit, date, command, machine, note }: BenchResult<unknown>): string {
  const { cores, processor, memoryGiB, system, kernel, cgroupVersion } = machine;
  const parts = [
    cores !== undefined && `${cores} cores${processor === undefined ? '' : ` (${processor})`}`,
    memoryGiB !== undefined && `${memoryGiB} GiB`,
    system,
    kernel !== undefined && `kernel ${kernel}`,
    cgroupVersion !== undefined && `cgroup v${cgroupVersion}`,
    machine.kubernetes !== undefined && `Kubernetes ${machine.kubernetes}`,
    machine.etcd !== undefined && `etcd ${machine.etcd}`,
    machine.node !== undefined && `Node ${machine.node}`,
    machine.load !== undefined && `load ${machine.load.toFixed(1)} at the start`,
  ].filter((part) => typeof part === 'string');
  const by = command === '' ? '' : ` with \`${command}\``;
  const when = `Measured at commit ${commit} on ${date.slice(0, 10)}${by} on a virtual machine: ${parts.join(', ')}.`;
  return note === undefined ? when : `${when} ${note}`;
}

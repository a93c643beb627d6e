import { readFile } from 'node:fs/promises';

import type { Machine } from '../../cluster/machines/machine.ts';
import { runCommand } from '../../cluster/machines/run-command.ts';
import { slowness } from '../../cluster/slowness.ts';

const seconds = 5;

/** bash opens connections by itself; all are tried at once. */
const script = `seconds=$1; shift
for at in "$@"; do
  (timeout "$seconds" bash -c ": 3<>/dev/tcp/\${at%:*}/\${at##*:}" 2>/dev/null && echo "$at") &
done
wait`;

/** Those of the addresses with ports to which a connection can be opened in the network namespace of a process. */
export async function dialFrom(pid: number, targets: readonly string[]): Promise<ReadonlySet<string>> {
  const { stdout } = await runCommand('nsenter', [
    '-t',
    String(pid),
    '-n',
    '--',
    'bash',
    '-c',
    script,
    'bash',
    String(seconds * slowness()),
    ...targets,
  ]);
  return new Set(stdout.split('\n').filter((line) => line !== ''));
}

/** A process in a pod, whose UID this is, on one of these machines. Its network namespace is the pod's. */
export async function processOfPod(machines: readonly Machine[], uid: string): Promise<number> {
  for (const machine of machines) {
    for (const { pid } of await machine.processes()) {
      const cgroup = await readFile(`/proc/${pid}/cgroup`, 'utf8').catch(() => '' /* it has ended meanwhile */);
      if (cgroup.includes(uid)) return pid;
    }
  }
  throw new Error(`No process of pod ${uid} runs on ${machines.map(({ name }) => name).join(', ')}.`);
}

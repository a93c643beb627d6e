import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { CgroupPlan } from './cgroup-plan.ts';
import type { CgroupEntrance } from './cgroups.ts';
import { cgroupProcesses, listCgroups, removeCgroups } from './cgroups.ts';
import { isMissing } from './is-missing.ts';
import { removeLink } from '../network/links.ts';
import { isAlive } from './process-identity.ts';
import type { CommandOptions, CommandOutput } from './run-command.ts';
import { lastLines, runCommand, tryCommand } from './run-command.ts';
import type { MachineRecord } from '../state.ts';
import { machineFolder } from '../state.ts';
import { slowness } from '../slowness.ts';

/** Where a machine's root is found on the host; what it writes under `/etc` and `/usr` is elsewhere. */
export function machineRoot(harness: string, machine: string): string {
  return path.join(machineFolder(harness, machine), 'rootfs');
}

/** The logs a machine keeps. */
export type MachineLog = 'init' | 'containerd' | 'kubelet';

/** PATH inside a machine. */
export const machinePath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/**
 * A machine: a process tree with its own mount, network, process, host name, IPC and cgroup namespaces, its own
 * containerd and a kubelet that starts when kubeadm has configured it. It outlives this process; `destroy` ends it.
 */
export class Machine implements AsyncDisposable {
  readonly harness: string;
  readonly record: MachineRecord;
  readonly folder: string;
  readonly #entrance: CgroupEntrance;
  readonly #cgroups: CgroupPlan;

  constructor(harness: string, record: MachineRecord, cgroups: CgroupPlan, entrance: CgroupEntrance) {
    this.harness = harness;
    this.record = record;
    this.folder = machineFolder(harness, record.name);
    this.#cgroups = cgroups;
    this.#entrance = entrance;
  }

  get name(): string {
    return this.record.name;
  }

  get address(): string {
    return this.record.address;
  }

  /** Process id of its init as the host sees it. @throws Error while the machine is not running. */
  get init(): number {
    if (this.record.init === undefined) throw new Error(`Machine ${this.name} has no running init.`);
    return this.record.init.pid;
  }

  /**
   * Runs a command inside, in `/` and with the usual PATH.
   * @throws CommandError when it fails, takes longer than `timeoutMs` (default 60 000) or is aborted.
   */
  exec(command: readonly string[], options: CommandOptions = {}): Promise<CommandOutput> {
    return runCommand(...this.#inside(command, options.env), this.#outside(command, options));
  }

  /** Like `exec`, but any exit code is an answer. */
  tryExec(command: readonly string[], options: CommandOptions = {}): Promise<CommandOutput> {
    return tryCommand(...this.#inside(command, options.env), this.#outside(command, options));
  }

  #outside(command: readonly string[], options: CommandOptions): CommandOptions {
    return { title: `${this.name}: ${command.join(' ').slice(0, 300)}`, ...options, env: { PATH: machinePath } };
  }

  #inside(command: readonly string[], env: Readonly<Record<string, string>> = {}): [string, readonly string[]] {
    const variables = Object.entries({ PATH: machinePath, HOME: '/root', ...env }).map(
      ([key, value]) => `${key}=${value}`,
    );
    const { enter, settle } = this.#entrance;
    const files = settle.length > 0 ? settle : enter;
    // A process enters namespaces with nsenter, but cgroups only by writing its id.
    const script = 'for file in $CGROUPS; do echo $$ > "$file"; done; exec nsenter "$@"';
    const target = ['-t', String(this.init), '-m', '-n', '-p', '-u', '-i', '-C', '--'];
    return [
      'env',
      [`CGROUPS=${files.join(' ')}`, 'sh', '-c', script, 'nsenter', ...target, 'env', '-i', ...variables, ...command],
    ];
  }

  /** Writes a file inside, with its folders. The path is absolute. */
  async writeFile(file: string, content: string | Uint8Array, mode = '0644'): Promise<void> {
    const script = 'mkdir -p "$(dirname "$1")" && cat > "$1" && chmod "$2" "$1"';
    await this.exec(['sh', '-c', script, 'sh', file, mode], { input: content });
  }

  /** Content of a file inside. */
  async readFile(file: string): Promise<string> {
    return (await this.exec(['cat', file])).stdout;
  }

  /** One of its logs; empty when it does not exist yet. */
  async log(name: MachineLog): Promise<string> {
    const file = name === 'init' ? 'init.log' : path.join('rootfs', 'var', 'log', `${name}.log`);
    return readFile(path.join(this.folder, file), 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return '';
      throw error;
    });
  }

  /** The last lines of all its logs, for the message of an error. */
  async lastWords(count = 12): Promise<string> {
    const logs = await Promise.all(
      (['init', 'containerd', 'kubelet'] as const).map(async (name) => {
        const text = lastLines(await this.log(name), count);
        return text === '' ? '' : `--- ${name} of ${this.name}\n${text}`;
      }),
    );
    return logs.filter(Boolean).join('\n');
  }

  /** Whether its init still runs. */
  async isRunning(): Promise<boolean> {
    return this.record.init !== undefined && (await isAlive(this.record.init));
  }

  /** Waits until containerd answers. @throws Error with its log after `timeoutMs`. */
  async containerdAnswers(timeoutMs = 20_000): Promise<void> {
    const deadline = Date.now() + timeoutMs * slowness();
    const script = 'until ctr --timeout 2s version >/dev/null 2>&1; do sleep 0.05; done';
    await this.exec(['sh', '-c', script], { timeoutMs: deadline - Date.now(), diagnose: () => this.lastWords() });
  }

  /** Its processes, those of its pods included: host process ids and command names. */
  async processes(): Promise<readonly { readonly pid: number; readonly command: string }[]> {
    const groups = this.#cgroups.hierarchies.map(({ mountPoint }) => path.join(mountPoint, this.record.cgroup));
    const pids = new Set((await Promise.all(groups.map(cgroupProcesses))).flat());
    const found = await Promise.all([...pids].map(async (pid) => ({ pid, command: (await commandOf(pid)) ?? '' })));
    return found.filter(({ command }) => command !== '');
  }

  /**
   * Sends a signal to all its processes with this command name (at most 15 characters count).
   * @returns how many there were.
   */
  async signalProcesses(command: string, signal: NodeJS.Signals): Promise<number> {
    const found = (await this.processes()).filter((candidate) => candidate.command === command.slice(0, 15));
    for (const { pid } of found) process.kill(pid, signal);
    return found.length;
  }

  /** Imports an archive of images, a file of the host, into the images of its kubelet. */
  async importImage(archive: string): Promise<void> {
    const socket = `/proc/${this.init}/root/run/containerd/containerd.sock`;
    const ctr = `/proc/${this.init}/root/usr/local/bin/ctr`;
    await runCommand(ctr, ['--address', socket, '-n', 'k8s.io', 'images', 'import', archive], { timeoutMs: 180_000 });
  }

  /** Ends containerd for good and waits until it has: its databases are complete then. */
  async stopContainerd(): Promise<void> {
    await writeFile(path.join(this.folder, 'containerd-stopped'), '');
    await this.signalProcesses('containerd', 'SIGTERM');
    const deadline = Date.now() + 20_000 * slowness();
    while ((await this.processes()).some(({ command }) => command === 'containerd')) {
      if (Date.now() > deadline)
        throw new Error(`containerd of ${this.name} does not end.
${await this.lastWords()}`);
      await pause(20);
    }
  }

  /** Ends everything inside and removes its processes, link, cgroups and folder. Repeating it is harmless. */
  async destroy(): Promise<void> {
    await removeMachine(this.harness, this.record, this.#cgroups);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }
}

async function commandOf(pid: number): Promise<string | undefined> {
  return readFile(`/proc/${pid}/comm`, 'utf8').then(
    (text) => text.trim(),
    (error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    },
  );
}

/** Opens a machine that some process has made. */
export async function attachMachine(harness: string, record: MachineRecord, cgroups: CgroupPlan): Promise<Machine> {
  const folders = await listCgroups(cgroups, record.cgroup.slice('steward-e2e.'.length));
  const exact = folders.filter((folder) => path.basename(folder) === record.cgroup);
  const files = exact.map((folder) => path.join(folder, ...(cgroups.version === 2 ? ['init'] : []), 'cgroup.procs'));
  return new Machine(harness, record, cgroups, { enter: files, settle: [] });
}

/** Removes a machine by its record alone: also one that is half-made or was made by a process that is gone. */
export async function removeMachine(harness: string, record: MachineRecord, cgroups: CgroupPlan): Promise<void> {
  const folders = cgroups.hierarchies.map(({ mountPoint }) => path.join(mountPoint, record.cgroup));
  await removeCgroups(folders);
  await removeLink(record.link);
  await rm(machineFolder(harness, record.name), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

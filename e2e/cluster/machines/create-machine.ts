import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { slowness } from '../slowness.ts';
import type { CgroupPlan } from './cgroup-plan.ts';
import { cgroupName } from './cgroup-plan.ts';
import type { CgroupEntrance } from './cgroups.ts';
import { createCgroups } from './cgroups.ts';
import { containerdConfig } from './containerd-config.ts';
import { plugMachine } from '../network/links.ts';
import { Machine, machinePath, removeMachine } from './machine.ts';
import type { NetworkPlan } from '../network/network-plan.ts';
import { machineLink } from '../network/network-plan.ts';
import { identifyProcess } from './process-identity.ts';
import { lastLines } from './run-command.ts';
import type { MachineRecord } from '../state.ts';
import { machineFolder, writeRecord } from '../state.ts';

/** What a new machine is made of. */
export interface MachineSpec {
  readonly harness: string;
  readonly name: string;
  readonly network: NetworkPlan;
  /** Last octet of its address, claimed for it. */
  readonly octet: number;
  readonly address: string;
  readonly cgroups: CgroupPlan;
  /** Folder that becomes `/usr/local/bin`: containerd, runc, kubelet, kubeadm, ctr … of one Kubernetes version. */
  readonly binaries: string;
  /** Folder that becomes `/opt/cni/bin`. */
  readonly cniPlugins: string;
  readonly pauseImage: string;
  readonly kubernetes: string;
  /** Further flags of its kubelet, for example `--provider-id=…`. */
  readonly kubeletArgs?: readonly string[];
  readonly signal?: AbortSignal;
}

const initScript = path.join(import.meta.dirname, 'machine-init.sh');
const launchScript = path.join(import.meta.dirname, 'machine-launch.sh');

/**
 * Makes and starts a machine; resolves when containerd has been started and the network is up. What was made before a
 * failure is removed again.
 */
export async function createMachine(spec: MachineSpec): Promise<Machine> {
  const folder = machineFolder(spec.harness, spec.name);
  const record: MachineRecord = {
    name: spec.name,
    address: spec.address,
    link: machineLink(spec.network, spec.octet),
    cgroup: cgroupName(spec.harness, spec.name),
    kubernetes: spec.kubernetes,
  };
  if (existsSync(path.join(folder, 'machine.json'))) {
    throw new Error(`Machine ${spec.name} of ${spec.harness} exists already; destroy it first.`);
  }
  try {
    await writeRecord(path.join(folder, 'machine.json'), record);
    return await startMachine(spec, record);
  } catch (error) {
    const log = await readFile(path.join(folder, 'init.log'), 'utf8').catch(() => 'no log was written');
    await removeMachine(spec.harness, record, spec.cgroups);
    throw new Error(`Machine ${spec.name} did not start: ${(error as Error).message}\n${lastLines(log)}`, {
      cause: error,
    });
  }
}

async function startMachine(spec: MachineSpec, planned: MachineRecord): Promise<Machine> {
  const folder = machineFolder(spec.harness, spec.name);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'containerd.toml'), containerdConfig(spec.pauseImage));
  const entrance = await createCgroups(spec.cgroups, planned.cgroup);
  const launcherPid = await launch(spec, folder, entrance);
  const launcher = await identifyProcess(launcherPid);
  const waiting = { launcherPid, folder, signal: spec.signal };
  await reached(waiting, 'its mounts', 'mounted');
  const init = await identifyProcess(await onlyChild(launcherPid));
  if (launcher === undefined || init === undefined) throw new Error('its init ended');
  const record: MachineRecord = { ...planned, launcher, init };
  await writeRecord(path.join(folder, 'machine.json'), record);
  await plugMachine(spec.network, { link: record.link, address: record.address, pid: init.pid });
  await writeFile(path.join(folder, 'plugged'), '');
  await reached(waiting, 'its services', 'up');
  return new Machine(spec.harness, record, spec.cgroups, entrance);
}

async function launch(spec: MachineSpec, folder: string, entrance: CgroupEntrance): Promise<number> {
  await using log = await open(path.join(folder, 'init.log'), 'a');
  const v1 = spec.cgroups.hierarchies.filter(({ type }) => type === 'cgroup');
  const child = spawn('bash', [launchScript], {
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      PATH: machinePath,
      HOME: '/root',
      CGROUP_ENTER: entrance.enter.join(' '),
      CGROUP_SETTLE: entrance.settle.join(' '),
      INIT_SCRIPT: initScript,
      FOLDER: folder,
      NAME: spec.name,
      ADDRESS: spec.address,
      GATEWAY: spec.network.gateway,
      CGROUP_VERSION: String(spec.cgroups.version),
      CGROUP_MOUNTS: v1.map((hierarchy) => `${hierarchy.folder}=${hierarchy.options}`).join(' '),
      BINARIES: spec.binaries,
      CNI_PLUGINS: spec.cniPlugins,
      KUBELET_ARGS: (spec.kubeletArgs ?? []).join(' '),
    },
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.unref();
  if (child.pid === undefined) throw new Error('bash could not be started');
  return child.pid;
}

interface Waiting {
  readonly launcherPid: number;
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
}

/** Waits for a file that the init script makes. */
async function reached({ launcherPid, folder, signal }: Waiting, what: string, file: string): Promise<void> {
  const deadline = Date.now() + 30_000 * slowness();
  while (!existsSync(path.join(folder, file))) {
    signal?.throwIfAborted();
    if ((await identifyProcess(launcherPid)) === undefined) throw new Error(`its init ended before ${what} were ready`);
    if (Date.now() > deadline) throw new Error(`${what} were not ready in time`);
    await pause(10);
  }
}

async function onlyChild(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const child = Number(children.trim().split(' ')[0]);
  if (!Number.isInteger(child) || child <= 0) throw new Error('its init ended');
  return child;
}

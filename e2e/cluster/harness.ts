import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

import type { CgroupPlan } from './machines/cgroup-plan.ts';
import { readCgroupPlan } from './machines/cgroups.ts';
import { holdHostLimits } from './network/host-limits.ts';
import { adoptGolden, goldenFolder } from './machines/golden.ts';
import { layOutBinaries } from './machines/lay-out-binaries.ts';
import { createBridge, hostRanges } from './network/links.ts';
import { createMachine } from './machines/create-machine.ts';
import { attachMachine, machineRoot } from './machines/machine.ts';
import type { Machine } from './machines/machine.ts';
import type { NetworkPlan } from './network/network-plan.ts';
import { machineAddress, machineOctets, planNetwork, usableNetworks } from './network/network-plan.ts';
import { requirePreflight } from './preflight.ts';
import { identifyProcess } from './machines/process-identity.ts';
import { abandonedHarnesses, removeHarness } from './remove-harness.ts';
import type { HarnessRecord } from './state.ts';
import { claim, harnessFolder, networkClaims, readHarness, readMachines, release, writeRecord } from './state.ts';
import type { Progress, Supplies } from './machines/supplies.ts';
import { gatherSupplies } from './machines/supplies.ts';

/** What a harness is opened with. */
export interface HarnessOptions {
  /** A DNS label of at most 30 characters. Default: `e2e-<pid>`. */
  readonly name?: string;
  /** Kubernetes version of its machines, as e2e/tools knows it. Default: the newest. */
  readonly kubernetes?: string;
  readonly progress?: Progress;
  /** Id of the process that removes it in the end, and whose death makes it abandoned. Default: this process. */
  readonly owner?: number;
  /** Aborting it ends what goes on in the harness; whoever opened it still removes it. */
  readonly signal?: AbortSignal;
}

/** How a machine of a harness is asked for. */
export interface MachineRequest {
  readonly name: string;
  /** Kubernetes version of its kubelet and kubeadm. Default: the harness'. */
  readonly kubernetes?: string;
  readonly kubeletArgs?: readonly string[];
  readonly signal?: AbortSignal;
}

/** A network of its own on this host, and the machines on it. Disposing removes all of it. */
export class Harness implements AsyncDisposable {
  readonly record: HarnessRecord;
  readonly folder: string;
  readonly progress: Progress;
  readonly cgroups: CgroupPlan;
  /** Aborted as soon as the harness is being removed: what still goes on in it ends. */
  readonly signal: AbortSignal;
  readonly #closing = new AbortController();

  constructor(record: HarnessRecord, cgroups: CgroupPlan, options: Pick<HarnessOptions, 'progress' | 'signal'> = {}) {
    this.record = record;
    this.cgroups = cgroups;
    this.progress = options.progress ?? (() => undefined);
    this.folder = harnessFolder(record.name);
    const outer = options.signal === undefined ? [] : [options.signal];
    this.signal = AbortSignal.any([this.#closing.signal, ...outer]);
  }

  get name(): string {
    return this.record.name;
  }

  get network(): NetworkPlan {
    return this.record.network;
  }

  /** Makes and starts a machine with all images of its Kubernetes version; resolves when containerd answers. */
  async createMachine(request: MachineRequest): Promise<Machine> {
    const supplies = await gatherSupplies(request.kubernetes ?? this.record.kubernetes, this.progress);
    const golden = await goldenFolder(supplies, async (use) => {
      this.progress('images', `importing ${supplies.images.length} archives, once`);
      const machine = await this.#create({ name: `images-${randomUUID().slice(0, 8)}` }, supplies);
      try {
        await use(machine);
      } finally {
        await this.removeMachine(machine);
      }
    });
    return this.#create(request, supplies, golden);
  }

  async #create(request: MachineRequest, supplies: Supplies, golden?: string): Promise<Machine> {
    const signal = request.signal === undefined ? this.signal : AbortSignal.any([this.signal, request.signal]);
    const binaries = path.join(this.folder, 'bin', supplies.kubernetes);
    const cniPlugins = path.join(this.folder, 'cni');
    await Promise.all([layOutBinaries(supplies.binaries, binaries), layOutBinaries(supplies.cniPlugins, cniPlugins)]);
    const { first, last } = machineOctets;
    const octets = Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
    const addresses = path.join(this.folder, 'addresses');
    const octet = await claim(addresses, octets, request.name);
    try {
      if (golden !== undefined)
        await adoptGolden(golden, path.join(machineRoot(this.name, request.name), 'var', 'lib', 'containerd'));
      const machine = await createMachine({
        harness: this.name,
        name: request.name,
        network: this.network,
        octet,
        address: machineAddress(this.network, octet),
        cgroups: this.cgroups,
        binaries,
        cniPlugins,
        pauseImage: supplies.pauseImage,
        kubernetes: supplies.kubernetes,
        kubeletArgs: request.kubeletArgs ?? [],
        signal,
      });
      await machine.containerdAnswers();
      return machine;
    } catch (error) {
      await release(addresses, octet, request.name);
      throw error;
    }
  }

  /** All machines that exist, also those made by other processes. */
  async machines(): Promise<readonly Machine[]> {
    const records = await readMachines(this.name);
    return Promise.all(records.map((record) => attachMachine(this.name, record, this.cgroups)));
  }

  /** One machine by name. @throws Error naming those that exist. */
  async machine(name: string): Promise<Machine> {
    const machines = await this.machines();
    const found = machines.find((machine) => machine.name === name);
    if (found !== undefined) return found;
    const names = machines.map((machine) => machine.name).join(', ') || 'none';
    throw new Error(`Harness ${this.name} has no machine ${name}; it has: ${names}.`);
  }

  /** Destroys one machine and gives its address back. */
  async removeMachine(machine: Machine): Promise<void> {
    await machine.destroy();
    const octet = Number(machine.address.split('.')[3]);
    await release(path.join(this.folder, 'addresses'), octet, machine.name);
  }

  /** Lets it outlive this process; `down` or `reset` remove it then. */
  async keep(): Promise<void> {
    await writeRecord(path.join(this.folder, 'harness.json'), { ...this.record, keep: true });
  }

  /** Ends what goes on in the harness in this process, and leaves the harness as it is. */
  detach(): void {
    this.#closing.abort(new Error(`this process is done with harness ${this.name}`));
  }

  /** Removes all machines, links, routes and files of the harness. Repeating it is harmless. */
  async remove(): Promise<void> {
    this.#closing.abort(new Error(`harness ${this.name} is being removed`));
    await removeHarness(this.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

/** Opens a new harness: checks the host, takes a free network and makes its bridge. */
export async function openHarness(options: HarnessOptions = {}): Promise<Harness> {
  const progress = options.progress ?? (() => undefined);
  await requirePreflight(progress);
  for (const abandoned of await abandonedHarnesses()) {
    progress('removing', `${abandoned}, whose owner has ended`);
    await removeHarness(abandoned);
  }
  const name = options.name ?? `e2e-${process.pid}`;
  const folder = harnessFolder(name);
  if (name.length > 30) throw new RangeError(`harness name ${name}: at most 30 characters are needed`);
  if ((await readHarness(name)) !== undefined) {
    throw new Error(`A harness called ${name} exists already. Remove it with: node e2e/cluster/main.ts down ${name}`);
  }
  const supplies = await gatherSupplies(options.kubernetes, progress);
  const { owner: pid = process.pid } = options;
  const owner = await identifyProcess(pid);
  if (owner === undefined) throw new Error(`Process ${pid}, which is to own harness ${name}, does not run.`);
  await mkdir(folder, { recursive: true });
  try {
    const index = await claim(networkClaims, usableNetworks(await hostRanges()), name);
    const network = planNetwork(index);
    const record = { name, network, owner, keep: false, kubernetes: supplies.kubernetes };
    await writeRecord(path.join(folder, 'harness.json'), record);
    await createBridge(network);
    await holdHostLimits();
    return new Harness(record, await readCgroupPlan(), options);
  } catch (error) {
    await removeHarness(name);
    throw error;
  }
}

/** Opens a harness that some process has made. @throws Error when there is none of this name. */
export async function attachHarness(name: string, progress?: Progress): Promise<Harness> {
  const record = await readHarness(name);
  if (record === undefined) throw new Error(`There is no harness called ${name}.`);
  return new Harness(record, await readCgroupPlan(), { progress });
}

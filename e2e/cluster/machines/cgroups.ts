import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { slowness } from '../slowness.ts';
import { cgroupPrefix, planCgroups } from './cgroup-plan.ts';
import type { CgroupPlan } from './cgroup-plan.ts';
import { isMissing } from './is-missing.ts';

/** Files into which a process writes its id to get into a machine's cgroups. */
export interface CgroupEntrance {
  /** Before the cgroup namespace is made: its root will be there. */
  readonly enter: readonly string[];
  /** Afterwards, and for every later process; the same as `enter` when empty. */
  readonly settle: readonly string[];
}

/** Reads how this host mounts its cgroups. @throws Error naming missing controllers. */
export async function readCgroupPlan(): Promise<CgroupPlan> {
  const mountInfo = await readFile('/proc/self/mountinfo', 'utf8');
  const controllers = await readFile('/sys/fs/cgroup/cgroup.controllers', 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return '';
    throw error;
  });
  return planCgroups(mountInfo, controllers);
}

/**
 * Makes one cgroup of this name in every hierarchy, ready to take processes.
 */
export async function createCgroups(plan: CgroupPlan, name: string): Promise<CgroupEntrance> {
  if (plan.version === 2) return createUnified(plan, name);
  const enter = await Promise.all(
    plan.hierarchies.map(async ({ mountPoint, controllers }) => {
      const folder = path.join(mountPoint, name);
      await mkdir(folder, { recursive: true });
      if (controllers.includes('cpuset')) await inheritCpuset(mountPoint, folder);
      return path.join(folder, 'cgroup.procs');
    }),
  );
  return { enter, settle: [] };
}

/** Without processors and memory nodes a v1 cpuset takes no process. */
async function inheritCpuset(parent: string, folder: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    await writeFile(path.join(folder, file), await readFile(path.join(parent, file), 'utf8'));
  }
}

/**
 * Unified hierarchy: controllers reach a cgroup only through its parent's `cgroup.subtree_control`, and a cgroup that
 * passes them on holds no process itself; so the machine's processes live in the leaf `init`.
 */
async function createUnified(plan: CgroupPlan, name: string): Promise<CgroupEntrance> {
  const root = plan.hierarchies[0];
  if (root === undefined) throw new Error('No cgroup2 mount was found under /sys/fs/cgroup.');
  await delegate(root.mountPoint, root.controllers);
  const folder = path.join(root.mountPoint, name);
  await mkdir(path.join(folder, 'init'), { recursive: true });
  return { enter: [path.join(folder, 'cgroup.procs')], settle: [path.join(folder, 'init', 'cgroup.procs')] };
}

async function delegate(folder: string, controllers: readonly string[]): Promise<void> {
  const file = path.join(folder, 'cgroup.subtree_control');
  const enabled = new Set((await readFile(file, 'utf8')).trim().split(' '));
  for (const controller of controllers) {
    if (enabled.has(controller)) continue;
    await writeFile(file, `+${controller}`).catch((error: unknown) => {
      throw new Error(
        `The cgroup controller ${controller} cannot be passed on (${file}). In a container, processes must first ` +
          'leave its top cgroup: start the container with --privileged --cgroupns=host.',
        { cause: error },
      );
    });
  }
}

/** All cgroups of ours that exist, optionally only those of names that begin with `cgroupPrefix + start`. */
export async function listCgroups(plan: CgroupPlan, start = ''): Promise<readonly string[]> {
  const found = await Promise.all(
    plan.hierarchies.map(async ({ mountPoint }) =>
      (await readdir(mountPoint))
        .filter((entry) => entry.startsWith(`${cgroupPrefix}${start}`))
        .map((entry) => path.join(mountPoint, entry)),
    ),
  );
  return found.flat();
}

/** Ids of all processes in this cgroup and those below it. A cgroup that is gone has none. */
export async function cgroupProcesses(folder: string): Promise<readonly number[]> {
  const pids: number[] = [];
  for (const cgroup of await cgroupTree(folder)) {
    const text = await readFile(path.join(cgroup, 'cgroup.procs'), 'utf8').catch(emptyIfGone);
    pids.push(...text.split('\n').filter(Boolean).map(Number));
  }
  return pids.filter((pid) => pid > 0);
}

/**
 * Kills every process in these cgroups and removes them, deepest first, until all are gone.
 * @throws Error naming what remains after `timeoutMs`.
 */
export async function removeCgroups(folders: readonly string[], timeoutMs = 10_000): Promise<void> {
  const deadline = Date.now() + timeoutMs * slowness();
  for (;;) {
    const remaining: string[] = [];
    for (const folder of folders) {
      for (const pid of await cgroupProcesses(folder)) kill(pid);
      if (!(await removeTree(folder))) remaining.push(folder);
    }
    if (remaining.length === 0) return;
    if (Date.now() > deadline) {
      throw new Error(`These cgroups still hold processes or cgroups: ${remaining.join(', ')}`);
    }
    await pause(30);
  }
}

async function removeTree(folder: string): Promise<boolean> {
  for (const cgroup of (await cgroupTree(folder)).toReversed()) {
    try {
      await rmdir(cgroup);
    } catch (error) {
      if (!isMissing(error) && !hasCode(error, 'EBUSY') && !hasCode(error, 'ENOTEMPTY')) throw error;
      if (!isMissing(error)) return false;
    }
  }
  return true;
}

/** The cgroup and all below it, parents before children. */
async function cgroupTree(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (entries === undefined) return [];
  const below = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => cgroupTree(path.join(folder, entry.name)));
  return [folder, ...(await Promise.all(below)).flat()];
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

function emptyIfGone(error: unknown): string {
  // ENODEV: the cgroup was removed between opening and reading the file.
  if (isMissing(error) || hasCode(error, 'ENODEV')) return '';
  throw error;
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}

import { readFile, rm, stat } from 'node:fs/promises';

import { cgroupProcesses, listCgroups, readCgroupPlan, removeCgroups } from './machines/cgroups.ts';
import { heldHostLimits, heldInVain, releaseHostLimits } from './network/host-limits.ts';
import { harnessLinks, hostRoutes, removeLink } from './network/links.ts';
import { planNetwork } from './network/network-plan.ts';
import { isAlive } from './machines/process-identity.ts';
import { claims, harnessFolder, listHarnesses, networkClaims, readHarness, release, stateRoot } from './state.ts';

/**
 * Removes everything that a harness of this name has left on the host, by its cgroups, its claims and its files: a
 * whole one, a half-made one, one whose owner was killed. Repeating it is harmless. A machine is not shut down but
 * killed: nothing in it is worth keeping.
 */
export async function removeHarness(name: string): Promise<void> {
  const plan = await readCgroupPlan();
  await removeCgroups(await listCgroups(plan, `${name}.`), 20_000);
  for (const [index, holder] of await claims(networkClaims)) {
    if (holder !== name) continue;
    const { bridge } = planNetwork(index);
    // Routes go with the links they lead through.
    for (const link of await harnessLinks(bridge)) await removeLink(link);
    await release(networkClaims, index, name);
  }
  await releaseHostLimits();
  await rm(harnessFolder(name), { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/**
 * What is on this host of the harness with this name, or of any: one line each. Empty when nothing is. Limits of the host belong to all
 * harnesses: the last one gives them back, so they are left over once there is none.
 */
export async function leftovers(name?: string): Promise<readonly string[]> {
  const plan = await readCgroupPlan();
  const cgroups = await listCgroups(plan, name === undefined ? '' : `${name}.`);
  const processes = new Set((await Promise.all(cgroups.map(cgroupProcesses))).flat());
  const networks = [...(await claims(networkClaims))].filter(([, holder]) => name === undefined || holder === name);
  const bridges = name === undefined ? [undefined] : networks.map(([index]) => planNetwork(index).bridge);
  const links = (await Promise.all(bridges.map((bridge) => harnessLinks(bridge)))).flat();
  const folders = (await listHarnesses()).filter((folder) => name === undefined || folder === name);
  return [
    ...[...processes].map((pid) => `process ${pid}`),
    ...cgroups.map((folder) => `cgroup ${folder}`),
    ...links.map((link) => `link ${link}`),
    ...(await hostRoutes(links)).map((route) => `route ${route}`),
    ...networks.map(([index, holder]) => `network ${index} of ${holder}`),
    ...folders.map((folder) => `folder ${harnessFolder(folder)}`),
    ...(await mountsBelow(name)).map((mount) => `mount ${mount}`),
    ...(name === undefined ? await heldHostLimits() : await heldInVain()).map((limit) => `sysctl ${limit}`),
  ];
}

/** Harnesses that nobody will remove: their owner has ended and they were not meant to outlive it. */
export async function abandonedHarnesses(): Promise<readonly string[]> {
  const names: string[] = [];
  for (const name of await listHarnesses()) {
    const record = await readHarness(name);
    // A folder without a record may be one that another process is just opening.
    const abandoned =
      record === undefined ? await hasRested(harnessFolder(name)) : !record.keep && !(await isAlive(record.owner));
    if (abandoned) names.push(name);
  }
  return names;
}

async function hasRested(folder: string): Promise<boolean> {
  return Date.now() - (await stat(folder)).mtimeMs > 60_000;
}

async function mountsBelow(name: string | undefined): Promise<readonly string[]> {
  const below = name === undefined ? stateRoot : harnessFolder(name);
  return (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((mount) => mount === below || mount.startsWith(`${below}/`));
}

import { readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { errorCode } from '../../tools/error-code.ts';
import { withFileLock } from '../../tools/file-lock.ts';
import { isMissing } from '../machines/is-missing.ts';
import { claims, networkClaims, stateRoot } from '../state.ts';

/** A limit of the whole host: in a machine it can only be read. */
export interface HostLimit {
  /** Its sysctl, for example `fs.inotify.max_user_instances`. */
  readonly name: string;
  /** The value from the host's own one; the same when that is good. */
  readonly wanted: (own: number) => number;
}

/** The limits that machines need otherwise than a host usually has them. */
export const hostLimits: readonly HostLimit[] = [
  // kube-proxy of a tenant writes 32768 for each core, 131072 at least, when it reads anything else, and ends because it cannot: in a
  // network namespace this is read only. So a host that tracks more has to track less for as long as machines are up.
  { name: 'net.netfilter.nf_conntrack_max', wanted: () => connections(availableParallelism()) },
  // Every kubelet, containerd and control plane watches files, all as the same user of the host: 128 are soon used up.
  { name: 'fs.inotify.max_user_instances', wanted: (own) => Math.max(own, 8192) },
];

/** What kube-proxy sets by default with so many cores. */
export function connections(cores: number): number {
  return Math.max(32_768 * cores, 131_072);
}

/** Gives the host the limits that machines need, and remembers what they were. */
export async function holdHostLimits(): Promise<void> {
  await alone(async () => {
    for (const limit of hostLimits) await hold(limit);
  });
}

/** One harness that is the last to leave and one that is the first to come must not both set them. */
async function alone(work: () => Promise<void>): Promise<void> {
  await withFileLock(path.join(stateRoot, '.limits.lock'), work);
}

async function hold({ name, wanted }: HostLimit): Promise<void> {
  const before = await readOrNothing(sysctl(name));
  if (before === undefined) return;
  const value = String(wanted(Number(before)));
  if (before.trim() === value) return;
  await rememberOnce(original(name), before);
  await writeFile(sysctl(name), value);
}

/** Writes a file unless it exists, so that the first one records the original value. */
export async function rememberOnce(file: string, content: string): Promise<void> {
  await writeFile(file, content, { flag: 'wx' }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}

/** Gives the host its own limits back once no harness is left. */
export async function releaseHostLimits(): Promise<void> {
  await alone(async () => {
    if ((await claims(networkClaims)).size > 0) return;
    for (const { name } of hostLimits) {
      const before = await readOrNothing(original(name));
      if (before === undefined) continue;
      await writeFile(sysctl(name), before);
      await rm(original(name), { force: true });
    }
  });
}

/** As {@link heldHostLimits}, once there is no harness that needs them. One that just leaves gets a moment to give them back. */
export async function heldInVain(): Promise<readonly string[]> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const held = await heldHostLimits();
    if (held.length === 0 || (await claims(networkClaims)).size > 0) return [];
    if (performance.now() > deadline) return held;
    await pause(200);
  }
}

/** The limits that still have our value and not the host's own. */
export async function heldHostLimits(): Promise<readonly string[]> {
  const held = await Promise.all(
    hostLimits.map(async ({ name }) => ((await readOrNothing(original(name))) === undefined ? [] : [name])),
  );
  return held.flat();
}

function sysctl(name: string): string {
  return path.join('/proc/sys', ...name.split('.'));
}

function original(name: string): string {
  return path.join(stateRoot, `.${name.split('.').at(-1) ?? name}`);
}

async function readOrNothing(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

import { link, mkdir, readFile, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { isMissing } from './machines/is-missing.ts';
import type { NetworkPlan } from './network/network-plan.ts';
import type { ProcessIdentity } from './machines/process-identity.ts';

/** Where every harness keeps its folder. A real file system is needed: overlay on overlay does not work. */
export const stateRoot = '/var/lib/steward-e2e';

/** What a later process must know of a harness to use it or to remove it. */
export interface HarnessRecord {
  readonly name: string;
  readonly network: NetworkPlan;
  /** The process that removes it in the end. */
  readonly owner: ProcessIdentity;
  /** Whether it is meant to outlive its owner. */
  readonly keep: boolean;
  readonly kubernetes: string;
}

/** What a later process must know of a machine. Written before anything is made, completed when it runs. */
export interface MachineRecord {
  readonly name: string;
  readonly address: string;
  readonly link: string;
  readonly cgroup: string;
  readonly kubernetes: string;
  readonly launcher?: ProcessIdentity;
  readonly init?: ProcessIdentity;
}

/** Folder of a harness. @throws RangeError for a name that is no DNS label of at most 30 characters. */
export function harnessFolder(name: string): string {
  assertName(name);
  return path.join(stateRoot, name);
}

/** Folder of a machine. */
export function machineFolder(harness: string, machine: string): string {
  assertName(machine);
  return path.join(harnessFolder(harness), 'machines', machine);
}

/** Refuses names that could not be a host name, a cgroup and a folder alike. */
export function assertName(name: string): void {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) {
    throw new RangeError(
      `name ${JSON.stringify(name)}: lower-case letters, digits and "-" (not at the ends) are needed, 63 at most`,
    );
  }
}

/** Writes a record so that a reader sees the old or the new one, never a half. */
export async function writeRecord(file: string, record: unknown): Promise<void> {
  const draft = `${file}.${process.pid}.draft`;
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(draft, `${JSON.stringify(record, undefined, 2)}\n`);
  await rename(draft, file);
}

/** The harness' record; undefined when there is none. */
export async function readHarness(name: string): Promise<HarnessRecord | undefined> {
  return readRecord<HarnessRecord>(path.join(harnessFolder(name), 'harness.json'));
}

/** Records of all machines of a harness, also half-made ones. */
export async function readMachines(harness: string): Promise<readonly MachineRecord[]> {
  const names = await entries(path.join(harnessFolder(harness), 'machines'));
  const records = await Promise.all(
    names.map((name) => readRecord<MachineRecord>(path.join(machineFolder(harness, name), 'machine.json'))),
  );
  return records.filter((record) => record !== undefined);
}

/** Names of all harnesses that have a folder. */
export async function listHarnesses(): Promise<readonly string[]> {
  return (await entries(stateRoot)).filter((name) => !name.startsWith('.'));
}

/**
 * Takes the first free number of `candidates` under `folder` for `holder`, atomically: of two processes only one gets it.
 * @throws Error when all are taken.
 */
export async function claim(folder: string, candidates: readonly number[], holder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  const draft = path.join(folder, `.${process.pid}.${holder}`);
  await writeFile(draft, holder);
  try {
    for (const candidate of candidates) {
      if (await linkUnlessTaken(draft, path.join(folder, String(candidate)))) return candidate;
    }
  } finally {
    await unlink(draft);
  }
  throw new Error(`Nothing is free in ${folder}: all of its ${candidates.length} numbers are taken.`);
}

/** Gives a number back if `holder` has it. */
export async function release(folder: string, number: number, holder: string): Promise<void> {
  if ((await claims(folder)).get(number) === holder) await rm(path.join(folder, String(number)), { force: true });
}

/** Who holds which number. */
export async function claims(folder: string): Promise<ReadonlyMap<number, string>> {
  const numbers = (await entries(folder)).filter((name) => /^\d+$/.test(name));
  const held = await Promise.all(
    numbers.map(async (name): Promise<[number, string]> => [
      Number(name),
      await readFile(path.join(folder, name), 'utf8').catch((error: unknown) => {
        if (isMissing(error)) return '';
        throw error;
      }),
    ]),
  );
  return new Map(held);
}

/** Where the networks' numbers are claimed. */
export const networkClaims = path.join(stateRoot, '.networks');

async function linkUnlessTaken(draft: string, target: string): Promise<boolean> {
  try {
    await link(draft, target);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function readRecord<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function entries(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

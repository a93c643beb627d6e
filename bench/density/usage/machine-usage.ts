import { readFile } from 'node:fs/promises';

import { CommandError, runCommand } from '../../../e2e/cluster/machines/run-command.ts';
import { availableMemory } from '../../fitting-tenants.ts';
import { descendantsOf, memoryOf, readProcesses } from './process-table.ts';
import type { TableProcess } from './process-table.ts';

/** Whose processes they are. */
export const parts = ['server', 'kine', 'client'] as const;
export type Part = (typeof parts)[number];
type Parts = Readonly<Record<Part, number>>;

/** What a datastore is on this host. */
export interface ServerPlace {
  /** Name of its program, or its process. */
  readonly server: string | number;
  /** Absent for the floor, which is no datastore. */
  readonly port?: number;
  readonly folder?: string;
}

/** CPU times since the start of each, seconds. */
export interface CpuTimes {
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  readonly parts: Parts;
  /** Of the whole machine. */
  readonly busy: number;
  readonly total: number;
}

/** How busy the processors were between two looks, in cores. */
export interface CpuUse extends Parts {
  /** Everything that is no part of this measurement. */
  readonly others: number;
  /** Of all cores, 0 to 1. */
  readonly busy: number;
}

/** What a datastore with its tenants has taken, MiB. */
export interface MemoryUse extends Parts {
  readonly available: number;
}

/** This process and its descendants by what they are. */
async function ownProcesses({ server }: ServerPlace): Promise<Readonly<Record<Part, readonly TableProcess[]>>> {
  const all = await readProcesses();
  const own = descendantsOf(process.pid, all);
  const partOf = ({ name, pid }: TableProcess): Part =>
    name === server || pid === server ? 'server' : name === 'kine' ? 'kine' : 'client';
  const found = Map.groupBy(own, partOf);
  return { server: found.get('server') ?? [], kine: found.get('kine') ?? [], client: found.get('client') ?? [] };
}

/** Reads the CPU times. */
export async function readCpuTimes(place: ServerPlace): Promise<CpuTimes> {
  const [found, stat] = await Promise.all([ownProcesses(place), readFile('/proc/stat', 'utf8')]);
  const sum = (part: Part): number => found[part].reduce((total, { cpuSeconds }) => total + cpuSeconds, 0);
  const own = process.cpuUsage();
  return {
    ...{ at: performance.now(), ...parseMachine(stat) },
    parts: { server: sum('server'), kine: sum('kine'), client: sum('client') + (own.user + own.system) / 1e6 },
  };
}

/** CPU time of the whole machine from the text of `/proc/stat`, seconds of all cores. */
export function parseMachine(stat: string): Pick<CpuTimes, 'busy' | 'total'> {
  const [, line] = /^cpu +(.+)$/m.exec(stat) ?? [];
  if (line === undefined) throw new Error('/proc/stat has no line of all processors.');
  // user, nice, system, idle, iowait, irq, softirq, steal; time of guests is part of user and nice.
  const ticks = line.split(' ').slice(0, 8).map(Number);
  const total = ticks.reduce((sum, one) => sum + one, 0);
  const idle = (ticks[3] ?? 0) + (ticks[4] ?? 0);
  return { busy: (total - idle) / 100, total: total / 100 };
}

/** What was used between two looks. */
export function cpuBetween(from: CpuTimes, to: CpuTimes): CpuUse {
  const seconds = (to.at - from.at) / 1000;
  const cores = (part: Part): number => (to.parts[part] - from.parts[part]) / seconds;
  const [server, kine, client] = parts.map(cores) as [number, number, number];
  const all = (to.busy - from.busy) / seconds;
  const busy = (to.busy - from.busy) / Math.max(to.total - from.total, Number.EPSILON);
  return { server, kine, client, others: Math.max(all - server - kine - client, 0), busy };
}

/** Reads how much memory everything takes. */
export async function readMemory(place: ServerPlace): Promise<MemoryUse> {
  const found = await ownProcesses(place);
  return {
    server: await memoryOf(found.server),
    kine: await memoryOf(found.kine),
    client: await memoryOf(found.client),
    available: await availableMemory(),
  };
}

/** Connections that a server has now. */
export async function readConnections({ port }: ServerPlace): Promise<number> {
  return port === undefined ? 0 : countConnections(await readFile('/proc/net/tcp', 'utf8'), port);
}

/** Established connections of a local port in the text of `/proc/net/tcp`. */
export function countConnections(table: string, port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').filter((line) => {
    const [, from = '', , state = ''] = line.trim().split(/ +/);
    return from.endsWith(local) && state === '01';
  }).length;
}

/** Disk that a server has taken, MiB. */
export async function readDisk({ folder }: ServerPlace): Promise<number> {
  if (folder === undefined) return 0;
  return Number((await diskUsage(folder)).split('\t', 1)[0]) / 1024;
}

/** The server may remove a file meanwhile, which fails the command after it has summed up the others. */
async function diskUsage(folder: string): Promise<string> {
  try {
    return (await runCommand('du', ['--summarize', '--block-size=1K', folder])).stdout;
  } catch (error) {
    if (error instanceof CommandError && error.output.stdout !== '') return error.output.stdout;
    throw error;
  }
}

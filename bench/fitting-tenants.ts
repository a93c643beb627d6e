import { readFile } from 'node:fs/promises';

/** What one idle control plane with one replica takes, with what its start takes besides, MiB. */
const perTenantMiB = 450;
/** What the machine keeps free, MiB. */
const reserveMiB = 2048;
/** A kubelet runs at most 110 pods; some of them are the management cluster's own. */
const mostPods = 90;

/** How many tenants with one replica fit besides what runs, at most as many as are wanted. */
export function fittingTenants(wanted: number, availableMiB: number): number {
  const room = Math.floor((availableMiB - reserveMiB) / perTenantMiB);
  return Math.max(0, Math.min(wanted, room, mostPods));
}

/** Memory that this machine can still give away, MiB, as the kernel estimates it. */
export async function availableMemory(): Promise<number> {
  const [, kibibytes] = /^MemAvailable:\s+(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error('/proc/meminfo has no MemAvailable.');
  return Number(kibibytes) / 1024;
}

/**
 * How many of the wanted tenants fit on this machine now.
 * @throws Error when not even one does.
 */
export async function tenantsThatFit(
  wanted: number,
  progress: (step: string, detail: string) => void,
): Promise<number> {
  const available = await availableMemory();
  const fit = fittingTenants(wanted, available);
  const room = `${(available / 1024).toFixed(1)} GiB of memory are available, a tenant takes ${perTenantMiB} MiB`;
  if (fit === 0) throw new Error(`No tenant fits: ${room}. End other programs on this machine.`);
  if (fit < wanted) progress('memory', `${fit} of ${wanted} tenants fit: ${room}`);
  return fit;
}

import { createHash } from 'node:crypto';
import { activatorPorts } from '../../../../api/names.ts';

const count = activatorPorts.to - activatorPorts.from + 1;

/**
 * The port of an activator at which calls of a tenant arrive while it sleeps: by its UID, and the next free one if that is taken.
 * Undefined if none is free.
 */
export function choosePort(uid: string, taken: (port: number) => boolean): number | undefined {
  const first = createHash('sha256').update(uid).digest().readUInt32BE(0) % count;
  for (let step = 0; step < count; step += 1) {
    const port = activatorPorts.from + ((first + step) % count);
    if (!taken(port)) return port;
  }
  return undefined;
}

import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';

/**
 * Ports below those that Linux gives to outgoing connections and to servers that ask for any port (`ip_local_port_range`), above those
 * of Kubernetes' components, and below node ports.
 */
const range = { first: 12_000, end: 30_000 } as const;

/** More attempts than this find none: something else is wrong. */
const mostAttempts = 1000;

/**
 * Ports of 127.0.0.1 that are free at this moment, all different. They stay free until a server listens on them unless another test
 * chooses one at random in the same moment: nothing else takes ports of this range.
 */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = new Map<number, Server>();
  try {
    for (let attempt = 0; servers.size < count; attempt += 1) {
      if (attempt > count + mostAttempts)
        throw new Error(`No ${count} ports are free of ${range.first} to ${range.end}.`);
      const port = randomInt(range.first, range.end);
      const server = servers.has(port) ? undefined : await listening(port);
      if (server !== undefined) servers.set(port, server);
    }
    return [...servers.keys()];
  } finally {
    await Promise.all(Array.from(servers.values(), closed));
  }
};

async function listening(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

import { once } from 'node:events';
import { createServer } from 'node:net';

/** Ports of 127.0.0.1 that are free at this moment, all different. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  return Promise.all(
    servers.map(async (server) => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('A TCP server has no port');
      server.close();
      await once(server, 'close');
      return address.port;
    }),
  );
};

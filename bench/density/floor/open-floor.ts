import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { serverFolder } from '../../../testing/servers/server-folder.ts';
import type { DensityStore } from '../stores/density-store.ts';

/** What answers everything with the same and keeps nothing, over a socket as kine does. */
export async function openFloor(): Promise<DensityStore> {
  const folder = await serverFolder();
  const socket = path.join(folder.path, 'nothing.sock');
  const child = fork(new URL('nothing-process.ts', import.meta.url), [socket]);
  await once(child, 'message');
  return {
    place: { server: child.pid ?? 0 },
    addTenant: () => Promise.resolve({ root: '/registry/', endpoint: { socket } }),
    [Symbol.asyncDispose]: async () => {
      if (child.connected) child.disconnect();
      await folder[Symbol.asyncDispose]();
    },
  };
}

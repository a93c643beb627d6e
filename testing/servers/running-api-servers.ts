import type { ApiServer } from './api-server.ts';

/** What global setup started and global teardown stops: both run in jest's own process and share this module. */
export const runningApiServers: ApiServer[] = [];

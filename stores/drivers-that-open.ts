import type { Driver } from './driver.ts';

/** Drivers whose fence can let keys through that are not copied: `TenancyData.openUncopied` has an effect for these. */
export const driversThatOpen: ReadonlySet<string | undefined> = new Set<Driver['name']>(['etcd', 'PostgreSQL']);

import type { Driver } from './driver.ts';

/** Drivers whose fence lets those keys through that are not copied: `TenancyData.openUncopied` has an effect there. */
export const driversThatOpen: ReadonlySet<string | undefined> = new Set<Driver['name']>(['etcd', 'PostgreSQL']);

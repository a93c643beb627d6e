import type { DataTenant, DataUnderTest } from '../tenancy-data-contract.ts';

/** A tenancy on servers of which one leads. */
export interface BreakableTenant extends DataTenant {
  /** Kills the server that leads what holds the data, and returns its name. */
  killLeader(): Promise<string>;
}

/** Several real servers that give tenancies, of which one can be lost. */
export interface BreakableStore extends DataUnderTest {
  tenant(): Promise<BreakableTenant>;
  /** Starts the servers that were killed, with their data. */
  heal(): Promise<void>;
}

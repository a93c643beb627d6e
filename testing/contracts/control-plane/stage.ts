import type { ContractManagement } from './contract-management.ts';
import type { ControlPlaneProfile, Hosting } from './profile.ts';

/** What the tests of the contract work on, once it has been started. */
export interface Stage {
  readonly profile: ControlPlaneProfile;
  readonly management: ContractManagement;
  readonly hosting: Hosting;
}

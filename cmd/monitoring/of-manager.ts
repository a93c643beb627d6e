import { stewardGroup } from '../../api/names.ts';

/** Name of the Lease by which managers elect their leader, and label of `leader_election_master_status`. */
const lease = stewardGroup;

/** PromQL that selects the manager of Steward among other controllers, which have metrics of the same names. */
export const ofManager = {
  leading: `leader_election_master_status{name="${lease}"}`,
  /** Behind a vector: only the series of targets that are managers. */
  only: `and on (job, instance) leader_election_master_status{name="${lease}"}`,
} as const;

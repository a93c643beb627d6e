import type { Condition } from '../../api/meta.ts';

/** What the controller of DataStores says of one that is verified to isolate tenants, of every generation of its spec. */
export const verifiedIsolation: Condition = {
  type: 'IsolationVerified',
  status: 'True',
  reason: 'Verified',
  message: 'version 3.7.1 refused all 4 attempts at 2030-01-01T00:00:00Z',
  lastTransitionTime: '2030-01-01T00:00:00Z',
  observedGeneration: 1_000_000,
};

import { definitionOutdatedRemedies } from './definition-outdated-remedies.ts';
import { healthy, passing, toDo } from './remedy.ts';
import type { RemediesOf } from './remedies-of.ts';
import type { dataStoreConditions } from '../steward/v1alpha1/condition-rows.ts';
import { storeRemedies } from './store-remedies.ts';

const describe = 'kubectl describe datastore <datastore>';

/** What to do about every reason of the conditions of a DataStore. */
export const dataStoreRemedies = {
  Ready: {
    Ready: healthy,
    ...storeRemedies,
  },
  Reachable: { Reachable: healthy },
  Authorized: { Authorized: healthy, ...storeRemedies },
  VersionSupported: { Supported: healthy, Unsupported: storeRemedies.Unsupported },
  IsolationVerified: {
    Verified: healthy,
    Breached: toDo(
      'Close the hole that the message names: docs/how-to/verify-isolation.md says how. Then change a field of the spec, or wait for the next verification.',
      describe,
    ),
    SharedCredentials: toDo(
      'Nothing, if the DataStore is meant for one tenant. For more tenants, create a DataStore that gives each tenant its own credentials: for NATS, set spec.nats.',
    ),
    Inconclusive: toDo('Repair what the message names; the verification is repeated within minutes.', describe),
    Pending: passing('Wait: a verification takes seconds.', describe),
  },
  Drained: {
    Drained: healthy,
    Draining: passing('Wait: status.drain shows the progress.', describe),
    Blocked: toDo('Do what the message says about the tenant that it names.', describe),
  },
  Deleting: {
    InUse: toDo(
      'Do what the message says about each object that it names: delete the TenantControlPlanes or migrate them to another DataStore; delete the RetainedControlPlanes, which removes their data, or let TenantControlPlanes adopt it.',
    ),
    Deleting: passing('Wait until the object is removed.'),
  },
  SpaceReserved: {
    SpaceReserved: healthy,
    CompactedEarly: toDo(
      'Nothing, if it ends. Otherwise find the tenant that overwrites so much, and give it a DataStore of its own.',
      describe,
    ),
    LiveDataTooLarge: toDo(
      'Raise --quota-backend-bytes of etcd and restart its members, or migrate tenants to another DataStore.',
      describe,
    ),
    QuotaUnknown: toDo('Start etcd with a positive --quota-backend-bytes.'),
  },
  Defragmented: {
    Defragmented: healthy,
    Defragmenting: passing('Wait: status.etcd shows the progress.', describe),
    MembersUnhealthy: toDo('Repair the member of etcd that the message names.', describe),
    MembersNotListed: toDo('List exactly the members of the cluster in spec.endpoints.', describe),
    AlarmRaised: toDo('Remove the cause of the alarm in the message, then disarm it: etcdctl alarm disarm.'),
    SpaceExceeded: toDo(
      'Raise --quota-backend-bytes of etcd and restart its members, or migrate tenants to another DataStore. Then disarm the alarm: etcdctl alarm disarm.',
      describe,
    ),
    PauseTooLong: toDo('Do what the message says.', describe),
    Busy: passing('Wait until the other process is done.'),
  },
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof dataStoreConditions>;

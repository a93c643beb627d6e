import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { InvalidInputError } from '../../../kubeadm/invalid-input-error.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import { hasRun, heldOverrides, overridePlan as planFor } from '../components/override-shares.ts';
import { refusalRemedy } from '../components/placement/namespace-refusal.ts';
import { storeTrouble } from '../components/tenancy.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { overrideComplaints } from '../validation/override-complaints.ts';

/**
 * Decides where single resources go; nothing new goes to a DataStore that is known to lack something. What admission refuses is
 * refused here as well: an object may be older than the rules, and what is wrong with it must not make objects of a tenant
 * vanish.
 */
export function overridePlan(scope: Readonly<Scope>): Promise<Outcome<Scope>> {
  return Promise.resolve(outcome(scope));
}

function outcome(scope: Readonly<Scope>): Outcome<Scope> {
  const { tcp, observed } = scope;
  const { tenancy, dataStoreName: main, driver } = needed(scope.store, 'store');
  const plan = planFor(tcp, tenancy);
  const stores = observed.overrideStores;
  const missing = plan.wanted.find((share) => share.dataStoreName !== '' && !stores.has(share.dataStoreName));
  if (missing !== undefined) {
    const message = `DataStore ${missing.dataStoreName}, which spec.dataStoreOverrides names for ${missing.resource}, does not exist: create it; what runs already is left alone`;
    return { is: 'waiting', reason: 'DataStoreNotFound', message };
  }
  const complaints = overrideComplaints({
    overrides: plan.wanted.map(({ resource, dataStoreName: dataStore }) => ({ resource, dataStore })),
    mains: [main],
    drivers: new Map([[main, driver], ...[...stores].map(([name, { spec }]): [string, string] => [name, spec.driver])]),
    ...(hasRun(tcp.status, observed.deployment) && { held: heldOverrides(tcp, tenancy, stores) }),
  });
  if (complaints.length > 0) {
    const message = complaints.map((complaint) => new InvalidInputError(complaint).message).join('; ');
    return { is: 'waiting', reason: 'OverrideUnusable', message: `${message}; what runs already is left alone` };
  }
  const unmade = plan.wanted.filter((share) => share.checksum === undefined);
  const refused = unmade.find((share) => observed.refusals.has(share.dataStoreName));
  if (refused !== undefined) {
    const { dataStoreName, resource } = refused;
    const message = `DataStore ${dataStoreName}, which spec.dataStoreOverrides names for ${resource}, ${observed.refusals.get(dataStoreName) ?? ''}: ${refusalRemedy}; what runs already is left alone`;
    return { is: 'waiting', reason: 'DataStoreNotAllowed', message };
  }
  const trouble = overrideTrouble(unmade.map((share) => needed(stores.get(share.dataStoreName), share.dataStoreName)));
  return trouble ?? { is: 'done', learned: { overridePlan: plan } };
}

/** What the DataStores of overrides are known to lack, the first of them that lacks anything. */
export function overrideTrouble(stores: readonly DataStore[]): Outcome<Scope> | undefined {
  for (const store of stores) {
    const trouble = storeTrouble(store);
    if (trouble === undefined) continue;
    const message = `DataStore ${store.metadata.name ?? ''} of spec.dataStoreOverrides cannot be used: ${trouble.message}; what runs is left alone`;
    return { is: 'waiting', reason: trouble.reason, message };
  }
  return undefined;
}

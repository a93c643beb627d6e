import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { InvalidInputError } from '../../../../kubeadm/invalid-input-error.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import { hasRun, heldOverrides, overridePlan as planFor } from './override-shares.ts';
import { isolationRefusal, isolationRemedy } from '../placement/isolation-refusal.ts';
import { refusalRemedy } from '../placement/namespace-refusal.ts';
import { storeTrouble } from '../../shared/store-trouble.ts';
import { needed } from '../../scope.ts';
import type { Scope } from '../../scope.ts';
import { validateOverrides } from './validate-overrides.ts';

/**
 * Decides where overridden resources are stored; no new ones in a DataStore that is known to be unusable. What admission refuses
 * is refused here as well: an object may be older than the rules, and invalid overrides must not make objects of a tenant vanish.
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
    const message = `DataStore ${missing.dataStoreName}, which spec.dataStoreOverrides names for ${missing.resource}, does not exist: create it; running pods are left alone`;
    return { is: 'waiting', reason: 'DataStoreNotFound', message };
  }
  const errors = validateOverrides({
    overrides: plan.wanted.map(({ resource, dataStoreName: dataStore }) => ({ resource, dataStore })),
    mains: [main],
    drivers: new Map([[main, driver], ...[...stores].map(([name, { spec }]): [string, string] => [name, spec.driver])]),
    ...(hasRun(tcp.status, observed.deployment) && { held: heldOverrides(tcp, tenancy, stores) }),
  });
  if (errors.length > 0) {
    const message = errors.map((error) => new InvalidInputError(error).message).join('; ');
    return { is: 'waiting', reason: 'OverrideUnusable', message: `${message}; running pods are left alone` };
  }
  const unmade = plan.wanted.filter((share) => share.checksum === undefined);
  const refused = unmade.find((share) => observed.refusals.has(share.dataStoreName));
  if (refused !== undefined) {
    const { dataStoreName, resource } = refused;
    const message = `DataStore ${dataStoreName}, which spec.dataStoreOverrides names for ${resource}, ${observed.refusals.get(dataStoreName) ?? ''}: ${refusalRemedy}; running pods are left alone`;
    return { is: 'waiting', reason: 'DataStoreNotAllowed', message };
  }
  const unmadeStores = unmade.map(({ dataStoreName }) => needed(stores.get(dataStoreName), dataStoreName));
  // Only one that can be used is verified: what prevents its use comes first.
  const unusable = overrideTrouble(unmadeStores) ?? unverifiedStore(unmadeStores);
  return unusable ?? { is: 'done', learned: { overridePlan: plan } };
}

function unverifiedStore(stores: readonly DataStore[]): Outcome<Scope> | undefined {
  for (const store of stores) {
    const isolation = isolationRefusal(store);
    if (isolation === undefined) continue;
    const message = `DataStore ${store.metadata.name} of spec.dataStoreOverrides ${isolation}: ${isolationRemedy}; running pods are left alone`;
    return { is: 'waiting', reason: 'DataStoreNotVerified', message };
  }
  return undefined;
}

/** The problem of the first DataStore of overrides that is known to be unusable; undefined when there is none. */
export function overrideTrouble(stores: readonly DataStore[]): Outcome<Scope> | undefined {
  for (const store of stores) {
    const trouble = storeTrouble(store);
    if (trouble === undefined) continue;
    const message = `DataStore ${store.metadata.name} of spec.dataStoreOverrides cannot be used: ${trouble.message}; running pods are left alone`;
    return { is: 'waiting', reason: trouble.reason, message };
  }
  return undefined;
}

import type { Secret } from '../../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../../api/steward/v1alpha1/data-stores-of.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { ClientTls, ServerState, Tenancy } from '../../../stores/driver.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { tenancyNames } from '../../../stores/tenancy-names.ts';
import { dataStoreCertificate, dataStoreConfig, dataStoreSecrets } from './data-store-secrets.ts';
import { foreignUser } from './check-user-conflict.ts';
import { otherHolder } from './find-conflicting-owner.ts';
import { secretText } from '../shared/secret.ts';
import { isolationRefusal, isolationRemedy } from './placement/isolation-refusal.ts';
import { refusalRemedy } from './placement/namespace-refusal.ts';
import { adoptsTenancy, choosesNames, tenancyFacts, tenancyOwner } from './tenancy.ts';
import { storeTrouble } from '../shared/store-trouble.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope, StoreFacts } from '../scope.ts';
import { rotationRequested, rotationTime } from '../shared/rotate.ts';
import { storePassword } from './store-password.ts';

/** The stored certificate, unless its rotation was requested. */
export function currentTls(secret: Secret | undefined): ClientTls | undefined {
  if (secret === undefined || rotationRequested(secret)) return undefined;
  const keys = dataKeys.dataStoreCertificate;
  const data = secretText(secret.data);
  const [ca, certificate, key] = [data[keys.ca], data[keys.certificate], data[keys.key]];
  if (ca === undefined) return undefined;
  return { ca, certificate, key };
}

/** The names of the tenancy; the same in every reconcile of every process. */
export function tenancyOf(tcp: TenantControlPlane, store?: DataStore): Tenancy {
  const { schema, user } = tenancyNames(tenancyFacts(tcp));
  return { schema, user, owner: tenancyOwner(tcp), adopt: adoptsTenancy(tcp, schema, store) };
}

/**
 * Reads the DataStore's credentials and creates the tenant's own. A password is stored in the Secret before it is set in the
 * datastore: if a crash prevents either write, the next reconcile sets what the Secret says. Names that a person chose are
 * claimed in the datastore before a certificate is issued for them: etcd checks only its common name, so a certificate for
 * another tenant's user would open that user's data. Otherwise the datastore is not contacted.
 */
export async function store(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const name = dataStoreName(tcp, deps.defaultDataStore);
  if (name === '') {
    const { dataStoreName: chosen } = needed(scope.placement, 'placement');
    const message = `DataStore ${chosen} was chosen; a tenancy will be created once that is recorded in the status`;
    return { is: 'waiting', reason: 'PlacementPending', message, afterMs: 0 };
  }
  if (observed.dataStore === undefined) {
    const message = `DataStore ${name} does not exist: create it; running pods are left alone`;
    return { is: 'waiting', reason: 'DataStoreNotFound', message };
  }
  const refusal = observed.refusals.get(name);
  if (refusal !== undefined && !isRecorded(scope)) {
    return { is: 'waiting', reason: 'DataStoreNotAllowed', message: `DataStore ${name} ${refusal}: ${refusalRemedy}` };
  }
  const isolation = isRecorded(scope) ? undefined : isolationRefusal(observed.dataStore);
  if (isolation !== undefined) {
    // Only one that can be used is verified: what prevents its use comes first.
    const trouble = storeTrouble(observed.dataStore);
    return trouble === undefined
      ? { is: 'waiting', reason: 'DataStoreNotVerified', message: `DataStore ${name} ${isolation}: ${isolationRemedy}` }
      : { is: 'waiting', reason: trouble.reason, message: `DataStore ${name} cannot be used: ${trouble.message}` };
  }
  refuseForeignData(tcp, deps);
  const open = await deps.stores.open(observed.dataStore, ctx.signal);
  const names = tenantObjects(tcp.metadata.name);
  const named = tenancyOf(tcp, observed.dataStore);
  const password = open.capabilities.passwords
    ? storePassword(observed.secrets.get(names.dataStoreConfig), named.owner)
    : undefined;
  const tenancy: Tenancy = { ...named, ...(password !== undefined && { password }) };
  const binding = open.bind(tenancy);
  const setup = checksum({ config: open.checksum, schema: tenancy.schema, user: tenancy.user, password });
  if (choosesNames(tcp) && !recorded(scope, setup)) {
    refuseForeignUser(tcp, tenancy.user, deps);
    await ensure(scope, { tenancy, setup }, deps, ctx);
  }
  const secret = observed.secrets.get(names.dataStoreCertificate);
  const tls = await open.clientTls(tenancy, currentTls(secret), ctx.now);
  const access = { tenancy, binding, tls, rotated: rotationTime(secret, ctx.now) };
  await Promise.all(dataStoreSecrets(tcp, access).map((manifest) => deps.apply(scope, manifest, ctx)));
  const facts: StoreFacts = {
    driver: open.driver,
    dataStoreName: name,
    binding,
    tenancy,
    tls,
    config: { name: names.dataStoreConfig, checksum: checksum(dataStoreConfig(access)) },
    certificate: { name: names.dataStoreCertificate, checksum: checksum(dataStoreCertificate(access)) },
    setup,
  };
  const message = refusal === undefined ? '' : `DataStore ${name} ${refusal} anymore; this tenant may stay`;
  return { is: 'done', learned: { store: facts }, message };
}

function refuseForeignData(tcp: TenantControlPlane, deps: Dependencies): void {
  const holder = otherHolder(tcp, deps.allTenants());
  if (holder === undefined) return;
  const owner = tcp.status?.storage?.owner ?? '';
  throw new StoreError(
    'OwnedByAnother',
    `status.storage.owner names ${owner}, whose data belongs to TenantControlPlane ${holder}: delete this TenantControlPlane, which does not remove that data`,
  );
}

function refuseForeignUser(tcp: TenantControlPlane, user: string, deps: Dependencies): void {
  // A recorded user was validated when it was recorded: other tenants' changes must not stop a running one.
  if (tcp.status?.storage?.setup?.user === user) return;
  const reason = foreignUser(tcp, user, deps.allTenants());
  if (reason === undefined) return;
  throw new StoreError('OwnedByAnother', `spec.dataStoreUsername ${JSON.stringify(user)} ${reason}: choose another`);
}

/** True when the status records that this tenancy was created in this datastore. */
function recorded({ tcp }: Readonly<Scope>, setup: string): boolean {
  return tcp.status?.storage?.setup?.checksum === setup;
}

/** True if the DataStore's status says so; until it has been checked, the server is queried. */
function isSupported({ status }: DataStore): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === 'VersionSupported' && condition.status === 'True') ===
    true
  );
}

/** True if the tenant has a tenancy somewhere, which is not changed for any server. */
function isRecorded({ tcp }: Readonly<Scope>): boolean {
  return tcp.status?.storage?.setup?.schema !== undefined;
}

function refuseUnsupported({ supported, version, floor }: ServerState): void {
  if (supported) return;
  const message = `version ${version} does not isolate tenants: upgrade the datastore to ${floor} or later`;
  throw new StoreError('Unsupported', message);
}

type Claim = Pick<StoreFacts, 'tenancy' | 'setup'>;

async function ensure(scope: Readonly<Scope>, claim: Claim, deps: Dependencies, ctx: Context): Promise<void> {
  const { dataStore } = scope.observed;
  const uid = scope.tcp.metadata.uid;
  if (dataStore === undefined || deps.memory.has(uid, 'tenancy', claim.setup)) return;
  const open = await deps.stores.open(dataStore, ctx.signal);
  await open.use(async (session) => {
    if (!isSupported(dataStore) && !isRecorded(scope)) refuseUnsupported(await session.ping());
    await session.ensure(claim.tenancy);
  });
  deps.memory.remember(uid, 'tenancy', claim.setup);
}

/** Creates user, prefix and grants before anything writes. A tenancy that the status records as created is not waited for. */
export async function tenancy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const facts = needed(scope.store, 'store');
  if (!recorded(scope, facts.setup)) await ensure(scope, facts, deps, ctx);
  return { is: 'done', learned: { tenancyEnsured: true } };
}

/**
 * Checks once per process whether an existing tenancy is still complete, and reports known problems of the DataStore. An
 * unreachable datastore stops no running tenant.
 */
export async function tenancyCheck(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  await ensure(scope, needed(scope.store, 'store'), deps, ctx);
  const { dataStore } = scope.observed;
  const trouble = dataStore === undefined ? undefined : storeTrouble(dataStore);
  if (trouble === undefined) return { is: 'done' };
  const { dataStoreName: name } = needed(scope.store, 'store');
  const message = `DataStore ${name} cannot be used: ${trouble.message}; running pods are left alone`;
  return { is: 'waiting', reason: trouble.reason, message };
}

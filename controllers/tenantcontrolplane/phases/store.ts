import type { Secret } from '../../../api/core/kinds.ts';
import { dataKeys, tenantObjects } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { dataStoreName } from '../../../api/steward/v1alpha1/data-stores-of.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import type { ClientTls, ServerState, Tenancy } from '../../../stores/driver.ts';
import { StoreError } from '../../../stores/store-error.ts';
import { tenancyNames } from '../../../stores/tenancy-names.ts';
import { dataStoreCertificate, dataStoreConfig, dataStoreSecrets } from '../components/data-store-secrets.ts';
import { foreignUser } from '../foreign-user.ts';
import { otherHolder } from '../other-holder.ts';
import { secretText } from '../components/secret.ts';
import { refusalRemedy } from '../components/placement/namespace-refusal.ts';
import { adoptsTenancy, choosesNames, storeTrouble, tenancyFacts, tenancyOwner } from '../components/tenancy.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope, StoreFacts } from '../scope.ts';
import { rotationRequested, rotationTime } from './rotation.ts';
import { storePassword } from './store-password.ts';

/** The certificate in place, unless somebody asked for another. */
export function currentTls(secret: Secret | undefined): ClientTls | undefined {
  if (secret === undefined || rotationRequested(secret)) return undefined;
  const keys = dataKeys.dataStoreCertificate;
  const data = secretText(secret.data);
  const [ca, certificate, key] = [data[keys.ca], data[keys.certificate], data[keys.key]];
  if (ca === undefined) return undefined;
  return { ca, ...(certificate !== undefined && { certificate }), ...(key !== undefined && { key }) };
}

/** What the tenancy is called; the same on every visit of every process. */
export function tenancyOf(tcp: TenantControlPlane, store?: DataStore): Tenancy {
  const { schema, user } = tenancyNames(tenancyFacts(tcp));
  return { schema, user, owner: tenancyOwner(tcp), adopt: adoptsTenancy(tcp, schema, store) };
}

/**
 * Reads the DataStore's credentials and makes the tenant's own. A password is in the Secret before it is in the store: whichever
 * of the two writes a crash leaves out, the next visit brings the store to what the Secret says. Names that a person chose are claimed in the store before
 * a certificate is issued for them: its common name is all that etcd asks for, so that one for another's user is a key to
 * that user's data. The store is asked nothing else.
 */
export async function store(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const name = dataStoreName(tcp, deps.defaultDataStore);
  if (name === '') {
    const { dataStoreName: chosen } = needed(scope.placement, 'placement');
    const message = `DataStore ${chosen} was chosen; a share of it is made as soon as that is on record`;
    return { is: 'waiting', reason: 'Placing', message, afterMs: 0 };
  }
  if (observed.dataStore === undefined) {
    const message = `DataStore ${name} does not exist: create it; what runs already is left alone`;
    return { is: 'waiting', reason: 'DataStoreNotFound', message };
  }
  const refusal = observed.refusals.get(name);
  if (refusal !== undefined && !isRecorded(scope)) {
    return { is: 'waiting', reason: 'DataStoreNotAllowed', message: `DataStore ${name} ${refusal}: ${refusalRemedy}` };
  }
  refuseForeignData(tcp, deps);
  const open = await deps.stores.open(observed.dataStore, ctx.signal);
  const names = tenantObjects(tcp.metadata.name ?? '');
  const named = tenancyOf(tcp, observed.dataStore);
  const password = open.passwords ? storePassword(observed.secrets.get(names.dataStoreConfig), named.owner) : undefined;
  const tenancy: Tenancy = { ...named, ...(password !== undefined && { password }) };
  const binding = open.bind(tenancy);
  const setup = checksum({
    config: open.checksum,
    schema: tenancy.schema,
    user: tenancy.user,
    ...(password !== undefined && { password }),
  });
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
  const message = refusal === undefined ? '' : `DataStore ${name} ${refusal} any more; this one stays`;
  return { is: 'done', learned: { store: facts }, message };
}

function refuseForeignData(tcp: TenantControlPlane, deps: Dependencies): void {
  const holder = otherHolder(tcp, deps.allTenants());
  if (holder === undefined) return;
  const owner = tcp.status?.storage?.owner ?? '';
  throw new StoreError(
    'OwnedByAnother',
    `status.storage.owner names ${owner}, whose data TenantControlPlane ${holder} has: delete this one, which leaves that data alone`,
  );
}

function refuseForeignUser(tcp: TenantControlPlane, user: string, deps: Dependencies): void {
  // What is recorded was judged when it was: credentials that change must stop nobody.
  if (tcp.status?.storage?.setup?.user === user) return;
  const reason = foreignUser(tcp, user, deps.allTenants());
  if (reason === undefined) return;
  throw new StoreError('OwnedByAnother', `spec.dataStoreUsername ${JSON.stringify(user)} ${reason}: choose another`);
}

/** True when the status records that this very tenancy was made in this very store. */
function recorded({ tcp }: Readonly<Scope>, setup: string): boolean {
  return tcp.status?.storage?.setup?.checksum === setup;
}

/** True when the DataStore says so itself; while nobody has looked yet, the server is asked. */
function isSupported({ status }: DataStore): boolean {
  return (
    status?.conditions?.some((condition) => condition.type === 'VersionSupported' && condition.status === 'True') ===
    true
  );
}

/** True when the tenant has a share somewhere, which is left alone whatever the server is. */
function isRecorded({ tcp }: Readonly<Scope>): boolean {
  return tcp.status?.storage?.setup?.schema !== undefined;
}

function refuseUnsupported({ supported, version, floor }: ServerState): void {
  if (supported) return;
  const message = `version ${version} does not keep tenants apart; needed is ${floor} or later: upgrade the store`;
  throw new StoreError('Unsupported', message);
}

type Claim = Pick<StoreFacts, 'tenancy' | 'setup'>;

async function ensure(scope: Readonly<Scope>, claim: Claim, deps: Dependencies, ctx: Context): Promise<void> {
  const { dataStore } = scope.observed;
  const uid = scope.tcp.metadata.uid ?? '';
  if (dataStore === undefined || deps.memory.has(uid, 'tenancy', claim.setup)) return;
  const open = await deps.stores.open(dataStore, ctx.signal);
  await open.use(async (session) => {
    if (!isSupported(dataStore) && !isRecorded(scope)) refuseUnsupported(await session.ping());
    await session.ensure(claim.tenancy);
  });
  deps.memory.remember(uid, 'tenancy', claim.setup);
}

/** Makes user, prefix and grants before anything writes. What the status records as made is not waited for. */
export async function tenancy(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const facts = needed(scope.store, 'store');
  if (!recorded(scope, facts.setup)) await ensure(scope, facts, deps, ctx);
  return { is: 'done', learned: { tenancyEnsured: true } };
}

/**
 * Looks once per process whether a tenancy made earlier is still whole, and passes on what the DataStore is known to lack. A
 * store out of reach stops no running tenant.
 */
export async function tenancyCheck(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  await ensure(scope, needed(scope.store, 'store'), deps, ctx);
  const { dataStore } = scope.observed;
  const trouble = dataStore === undefined ? undefined : storeTrouble(dataStore);
  if (trouble === undefined) return { is: 'done' };
  const { dataStoreName: name } = needed(scope.store, 'store');
  const message = `DataStore ${name} cannot be used: ${trouble.message}; what runs is left alone`;
  return { is: 'waiting', reason: trouble.reason, message };
}

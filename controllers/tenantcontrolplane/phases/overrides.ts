import { tenantObjects } from '../../../api/names.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { OverrideShare } from '../../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../runtime/controller.ts';
import type { Outcome } from '../../../runtime/phases.ts';
import type { ClientTls } from '../../../stores/driver.ts';
import { namingStore } from '../../../stores/store-access.ts';
import type { OpenStore, OpenStores } from '../../../stores/store-access.ts';
import { StoreError } from '../../../stores/store-error.ts';
import type { StoreOverride } from '../components/control-plane-input.ts';
import { dataStoreCertificate } from '../components/data-store-secrets.ts';
import { distinctShares, overrideTenancy } from '../components/override-shares.ts';
import { secret } from '../components/secret.ts';
import type { Dependencies } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { OverrideFacts, Scope } from '../scope.ts';
import { overrideTrouble } from './override-plan.ts';
import { rotationTime } from './rotation.ts';
import { currentTls } from './store.ts';

/** The component label of the Secret that opens all stores. */
export const overridesComponent = 'datastore-overrides-certificate';

/** A share with the store that it is of. */
interface OpenShare {
  readonly share: OverrideShare;
  readonly store: DataStore;
  readonly open: OpenStore;
  /** Over the store's endpoints and credentials and the share's names: recorded once the share is made. */
  readonly setup: string;
}

async function openShares(
  { observed }: Readonly<Scope>,
  shares: readonly OverrideShare[],
  deps: Dependencies,
  ctx: Context,
): Promise<{ readonly together: OpenStores; readonly each: readonly OpenShare[] }> {
  const main = needed(observed.dataStore, 'the DataStore');
  const stores = shares.map(({ dataStoreName }) => needed(observed.overrideStores.get(dataStoreName), dataStoreName));
  const together = await deps.stores.openTogether([main, ...stores], ctx.signal);
  const each = shares.map((share, index): OpenShare => {
    const open = needed(together.stores[index + 1], share.dataStoreName);
    const setup = checksum({ config: open.checksum, schema: share.schema, user: share.user });
    return { share, store: needed(stores[index], share.dataStoreName), open, setup };
  });
  return { together, each };
}

async function ensure(tcp: Scope['tcp'], { share, store, open, setup }: OpenShare, deps: Dependencies): Promise<void> {
  const fact = `override ${share.dataStoreName}`;
  const uid = tcp.metadata.uid ?? '';
  if (deps.memory.has(uid, fact, setup)) return;
  const made = open.use((session) => session.ensure(overrideTenancy(tcp, share, store)));
  await namingStore(store, made.catch(explainOwner));
  deps.memory.remember(uid, fact, setup);
}

function explainOwner(error: unknown): never {
  if (!(error instanceof StoreError) || error.reason !== 'OwnedByAnother') throw error;
  const help =
    'the names are those of the tenant’s data, which may be in this very store under another DataStore’s name';
  throw new StoreError(error.reason, `${error.message} (${help})`, { cause: error });
}

/**
 * Makes the shares of the stores that hold single resources, and the one certificate that opens them and the main store. The
 * shares come first: the certificate's common name is all that etcd asks for. What the status records as made is not waited
 * for; what is not on record yet is not made, so that a removal always knows of it.
 */
export async function overrides(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const { wanted, recorded } = needed(scope.overridePlan, 'overridePlan');
  if (wanted.length === 0) return { is: 'done', learned: { overrides: { bindings: [], setups: new Map() } } };
  const shares = distinctShares(wanted);
  if (!recorded) {
    const names = shares.map(({ dataStoreName }) => dataStoreName).join(', ');
    const message = `shares of DataStore ${names} are made as soon as they are on record`;
    return { is: 'waiting', reason: 'Placing', message, afterMs: 0 };
  }
  const { together, each } = await openShares(scope, shares, deps, ctx);
  await Promise.all(each.filter(({ share, setup }) => share.checksum !== setup).map((one) => ensure(tcp, one, deps)));
  const name = tenantObjects(tcp.metadata.name ?? '').dataStoreOverridesCertificate;
  const inPlace = observed.secrets.get(name);
  const { tenancy, binding } = needed(scope.store, 'store');
  let tls: ClientTls;
  try {
    tls = await together.clientTls(tenancy, currentTls(inPlace), ctx.now);
  } catch (error) {
    if (!(error instanceof StoreError) || error.reason !== 'Unsupported') throw error;
    return { is: 'waiting', reason: 'OverrideUnusable', message: `spec.dataStoreOverrides: ${error.message}` };
  }
  const data = dataStoreCertificate({ tenancy, binding, tls });
  const rotated = rotationTime(inPlace, ctx.now);
  await deps.apply(scope, secret(tcp, { name, component: overridesComponent, data, lifecycle: 'x509', rotated }), ctx);
  const facts: OverrideFacts = {
    bindings: wanted.map((share) => bindingOf(share, each, scope)),
    setups: new Map(each.map(({ share, setup }) => [share.dataStoreName, setup])),
    certificate: { name, checksum: checksum(data) },
  };
  return { is: 'done', learned: { overrides: facts } };
}

function bindingOf(
  { resource, dataStoreName }: OverrideShare,
  each: readonly OpenShare[],
  scope: Scope,
): StoreOverride {
  const { open } = needed(
    each.find(({ share }) => share.dataStoreName === dataStoreName),
    dataStoreName,
  );
  const binding = open.bind(needed(scope.store, 'store').tenancy);
  return { resource, endpoints: binding.kind === 'etcd' ? binding.endpoints : [] };
}

/**
 * Looks once per process whether shares made earlier are still whole, and passes on what their DataStores are known to lack. A
 * store out of reach stops no running tenant.
 */
export async function overridesCheck(
  scope: Readonly<Scope>,
  deps: Dependencies,
  ctx: Context,
): Promise<Outcome<Scope>> {
  const shares = distinctShares(needed(scope.overridePlan, 'overridePlan').wanted);
  if (shares.length === 0) return { is: 'done' };
  const { each } = await openShares(scope, shares, deps, ctx);
  await Promise.all(each.map((one) => ensure(scope.tcp, one, deps)));
  return overrideTrouble(each.map(({ store }) => store)) ?? { is: 'done' };
}

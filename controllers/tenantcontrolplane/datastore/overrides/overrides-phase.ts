import { tenantObjects } from '../../../../api/names.ts';
import type { DataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import type { OverrideShare } from '../../../../api/steward/v1alpha1/tenant-control-plane-status.ts';
import { checksum } from '../../../../kubeadm/pki/checksum.ts';
import type { Context } from '../../../../runtime/reconcile/controller.ts';
import type { Outcome } from '../../../../runtime/reconcile/phases.ts';
import type { ClientTls } from '../../../../stores/driver.ts';
import { namingStore } from '../../../../stores/store-access.ts';
import type { OpenStore, OpenStores } from '../../../../stores/store-access.ts';
import { StoreError } from '../../../../stores/store-error.ts';
import type { StoreOverride } from '../../shared/control-plane-input.ts';
import { dataStoreCertificate } from '../data-store-secrets.ts';
import { distinctShares, overrideTenancy } from './override-shares.ts';
import { secret } from '../../shared/secret.ts';
import type { Dependencies } from '../../dependencies.ts';
import { needed } from '../../scope.ts';
import type { OverrideFacts, Scope } from '../../scope.ts';
import { overrideTrouble } from './override-plan-phase.ts';
import { rotationTime } from '../../shared/rotate.ts';
import { currentTls } from '../store-phase.ts';

/** The component label of the Secret with the credentials for all datastores. */
export const overridesComponent = 'datastore-overrides-certificate';

/** A tenancy with its opened datastore. */
interface OpenShare {
  readonly share: OverrideShare;
  readonly store: DataStore;
  readonly open: OpenStore;
  /** Checksum of the datastore's endpoints and credentials and of the tenancy's names: recorded once the tenancy exists. */
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
  const uid = tcp.metadata.uid;
  if (deps.memory.has(uid, fact, setup)) return;
  const made = open.use((session) => session.ensure(overrideTenancy(tcp, share, store)));
  await namingStore(store, made.catch(explainOwner));
  deps.memory.remember(uid, fact, setup);
}

function explainOwner(error: unknown): never {
  if (!(error instanceof StoreError) || error.reason !== 'OwnedByAnother') throw error;
  const help = 'the override uses the same names as the tenant’s main data: the two DataStores may be the same server';
  throw new StoreError(error.reason, `${error.message} (${help})`, { cause: error });
}

/**
 * Creates the tenancies for overridden resources, and the one certificate that opens them and the main datastore. The tenancies
 * come first: etcd checks only the certificate's common name. Tenancies that the status records as created are not waited for;
 * those that are not recorded yet are not created, so that a removal always knows them.
 */
export async function overrides(scope: Readonly<Scope>, deps: Dependencies, ctx: Context): Promise<Outcome<Scope>> {
  const { tcp, observed } = scope;
  const { wanted, recorded } = needed(scope.overridePlan, 'overridePlan');
  if (wanted.length === 0) return { is: 'done', learned: { overrides: { bindings: [], setups: new Map() } } };
  const shares = distinctShares(wanted);
  if (!recorded) {
    const names = shares.map(({ dataStoreName }) => dataStoreName).join(', ');
    const message = `tenancies of DataStore ${names} will be created once they are recorded in the status`;
    return { is: 'waiting', reason: 'PlacementPending', message, afterMs: 0 };
  }
  const { together, each } = await openShares(scope, shares, deps, ctx);
  await Promise.all(each.filter(({ share, setup }) => share.checksum !== setup).map((one) => ensure(tcp, one, deps)));
  const name = tenantObjects(tcp.metadata.name).dataStoreOverridesCertificate;
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
 * Checks once per process whether existing tenancies are still complete, and reports known problems of their DataStores. An
 * unreachable datastore stops no running tenant.
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

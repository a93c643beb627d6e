import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { Driver, Session, Tenancy } from '../../../stores/driver.ts';
import { kineRoot } from '../../../stores/kine/kine-keys.ts';
import { tenancyIdentifier } from '../../../stores/tenancy-names.ts';
import { startKine } from '../../../testing/servers/kine-server.ts';
import type { TenantTarget } from '../load/tenant-load.ts';
import type { ServerPlace } from '../usage/machine-usage.ts';

/** A real datastore that tenants are added to. Disposing of it ends its server, and kine of all tenants. */
export interface DensityStore extends AsyncDisposable {
  readonly place: ServerPlace;
  /** Makes the tenancy of one more tenant, and what its API server reaches it through. */
  addTenant(): Promise<TenantTarget>;
}

/** A server that has been started. */
export interface StartedServer extends AsyncDisposable {
  readonly place: ServerPlace;
  readonly dataStore: DataStore;
}

const noSecrets = (): Promise<undefined> => Promise.resolve(undefined);

/** Opens a session as the manager does, which makes the tenancies. */
export async function openDensityStore<Config>(
  driver: Driver<Config>,
  start: () => Promise<StartedServer>,
): Promise<DensityStore> {
  await using started = new AsyncDisposableStack();
  const { place, dataStore } = started.use(await start());
  const config = await driver.configure(dataStore, noSecrets);
  const session = started.use(await driver.open(config, new AbortController().signal));
  await session.ping();
  const all = started.move();
  let count = 0;
  return {
    place,
    addTenant: () => {
      count += 1;
      return addTenant({ driver, config, session, ends: all }, tenancyOf(count));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function tenancyOf(count: number): Tenancy {
  const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
  const name = tenancyIdentifier(owner);
  return { schema: name, user: name, owner, password: `Pw-${count}` };
}

interface Making<Config> {
  readonly driver: Driver<Config>;
  readonly config: Config;
  readonly session: Session;
  readonly ends: AsyncDisposableStack;
}

/** With the credentials, grants and flags that the tenant's pods have. */
async function addTenant<Config>(
  { driver, config, session, ends }: Making<Config>,
  tenancy: Tenancy,
): Promise<TenantTarget> {
  await session.ensure(tenancy);
  const tls = await driver.clientTls(config, tenancy, undefined, new Date());
  const binding = driver.bind(config, tenancy);
  if (binding.kind === 'kine') {
    const kine = ends.use(await startKine({ binding, tenancy, tls }));
    return { root: kineRoot, endpoint: { socket: kine.endpoint.replace('unix://', '') } };
  }
  const [endpoint = ''] = binding.endpoints;
  if (tls === undefined) throw new Error(`A tenant of ${driver.name} got no certificate.`);
  const { hostname: host, port } = new URL(endpoint);
  return { root: `${binding.prefix}/`, endpoint: { host, port: Number(port), tls } };
}

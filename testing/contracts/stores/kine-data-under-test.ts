import type { Driver, Session, Tenancy } from '../../../stores/driver.ts';
import { kineRoot } from '../../../stores/kine/kine-keys.ts';
import type { ApiServerHand, DataTenant, DataUnderTest } from '../../../stores/contract/tenancy-data-contract.ts';
import { tenancyIdentifier } from '../../../stores/tenancy-names.ts';
import { startKine } from '../../servers/kine-server.ts';
import type { KineServer } from '../../servers/kine-server.ts';
import { apiServerHand } from './api-server-client.ts';
import { countedWrites } from './counted-writes.ts';
import { measuredContent } from './measured-content.ts';
import { otherData } from './other-data.ts';

/** A store whose tenants run kine; disposing of it ends the server. */
export interface KineStore<Config> extends AsyncDisposable {
  readonly driver: Driver<Config>;
  readonly config: Config;
}

/** kine compacts on request, and retains nothing. */
const compactible = ['--compact-interval=0s', '--compact-min-retain=0'];

/** A store behind real kine processes, which are the hands of its tenants. */
export async function kineDataUnderTest<Config>(store: KineStore<Config>): Promise<DataUnderTest> {
  const session = await store.driver.open(store.config, new AbortController().signal);
  let count = 0;
  return {
    tenant: async () => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      return newTenant(store, session, { schema: name, user: name, owner, password: `Pw-${count}` });
    },
    [Symbol.asyncDispose]: async () => {
      await session[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

async function newTenant<Config>(
  { driver, config }: KineStore<Config>,
  session: Session,
  tenancy: Tenancy,
): Promise<DataTenant> {
  await session.ensure(tenancy);
  const binding = driver.bind(config, tenancy);
  if (binding.kind !== 'kine') throw new Error(`${driver.name} is not behind kine`);
  const tls = await driver.clientTls(config, tenancy, undefined, new Date());
  const data = await session.data?.(tenancy);
  if (data === undefined) throw new Error(`the driver of ${driver.name} cannot copy`);
  const start = (): Promise<KineServer> => startKine({ binding, tenancy, tls, extra: compactible });
  const handOf = (kine: KineServer): ApiServerHand =>
    apiServerHand(kine.client, kineRoot, async () => {
      await kine[Symbol.asyncDispose]();
    });
  const kine = await start();
  const hand = handOf(kine);
  return {
    data,
    hand,
    root: kineRoot,
    anotherHand: async () => handOf(await start()),
    anotherData: () => otherData(session, tenancy),
    ensure: () => session.ensure(tenancy),
    content: () => measuredContent(session, tenancy),
    writes: () => countedWrites(session, tenancy),
    compact: async () => {
      const { header } = await kine.client.kv.range({ key: Buffer.from(kineRoot) });
      await kine.client.kv.compact({ revision: header.revision });
    },
    [Symbol.asyncDispose]: async () => {
      await data[Symbol.asyncDispose]();
      await hand[Symbol.asyncDispose]();
    },
  };
}

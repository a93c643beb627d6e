import type { Driver, Session, Tenancy } from '../../../stores/driver.ts';
import { kineRoot } from '../../../stores/kine/kine-keys.ts';
import type { ApiServerHand, DataTenant } from '../../../stores/contract/tenancy-data-contract.ts';
import { startKine } from '../../servers/kine-server.ts';
import type { KineServer } from '../../servers/kine-server.ts';
import { apiServerHand } from './api-server-client.ts';
import { countedWrites } from './counted-writes.ts';
import { measuredContent } from './measured-content.ts';
import { otherData } from './other-data.ts';

/** A store behind kine with an open administrative session. */
export interface KineStore<Config> {
  readonly driver: Driver<Config>;
  readonly config: Config;
  readonly session: Session;
}

/** kine retains the last thousand revisions by default. */
const keepNothing = ['--compact-min-retain=0'];

/** Makes a tenancy whose hands are kines, each a process of its own with nothing but what the tenant's pods get. */
export async function kineDataTenant<Config>(store: KineStore<Config>, tenancy: Tenancy): Promise<DataTenant> {
  const { driver, config, session } = store;
  await session.ensure(tenancy);
  const tls = await driver.clientTls(config, tenancy, undefined, new Date());
  const binding = driver.bind(config, tenancy);
  if (binding.kind !== 'kine') throw new Error(`the driver of ${driver.name} does without kine`);
  const start = (): Promise<KineServer> => startKine({ binding, tenancy, tls, extra: keepNothing });
  const handOf = (kine: KineServer): ApiServerHand =>
    apiServerHand(kine.client, kineRoot, async () => {
      await kine[Symbol.asyncDispose]();
    });
  const kine = await start();
  const data = await session.data?.(tenancy);
  if (data === undefined) throw new Error(`the driver of ${driver.name} cannot copy`);
  return {
    data,
    hand: handOf(kine),
    root: kineRoot,
    anotherHand: async () => handOf(await start()),
    anotherData: () => otherData(session, tenancy),
    ensure: () => session.ensure(tenancy),
    content: () => measuredContent(session, tenancy),
    writes: () => countedWrites(session, tenancy),
    compact: async () => {
      const { header } = await kine.client.kv.range({ key: Buffer.from('a') });
      await kine.client.kv.compact({ revision: header.revision });
    },
    [Symbol.asyncDispose]: async () => {
      await kine[Symbol.asyncDispose]();
      await data[Symbol.asyncDispose]();
      await session.remove(tenancy);
    },
  };
}

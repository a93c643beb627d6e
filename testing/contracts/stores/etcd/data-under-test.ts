import type { Etcd3 } from 'etcd3';
import type { Session, Tenancy } from '../../../../stores/driver.ts';
import type { ApiServerHand, DataTenant, DataUnderTest } from '../../../../stores/contract/tenancy-data-contract.ts';
import type { EtcdConfig } from '../../../../stores/etcd/config.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { startEtcdDataStore } from './data-store.ts';
import { apiServerHand } from '../api-server-client.ts';
import { pairOf, rawEtcdClient } from '../../../../stores/etcd/isolation/raw-client.ts';
import { measuredContent } from '../measured-content.ts';

/** An etcd with authentication that gives tenancies, whose hands are etcd clients with the tenants' certificates. */
export async function startEtcdDataUnderTest(release?: string): Promise<DataUnderTest> {
  const store = await startEtcdDataStore({ release });
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  const session = await etcdDriver.open(config, new AbortController().signal);
  const administrator = rawEtcdClient(config, store.tls.root);
  let count = 0;
  return {
    tenant: async () => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      return newTenant({ config, session, administrator }, { schema: name, user: name, owner });
    },
    [Symbol.asyncDispose]: async () => {
      administrator.close();
      await session[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

interface Server {
  readonly config: EtcdConfig;
  readonly session: Session;
  readonly administrator: Etcd3;
}

async function newTenant({ config, session, administrator }: Server, tenancy: Tenancy): Promise<DataTenant> {
  await session.ensure(tenancy);
  const tls = await etcdDriver.clientTls(config, tenancy, undefined, new Date());
  const data = await session.data?.(tenancy);
  if (data === undefined) throw new Error('the driver of etcd cannot copy');
  const anotherHand = (): Promise<ApiServerHand> => {
    const client = rawEtcdClient(config, pairOf({ tenancy, tls }));
    const close = (): Promise<void> => {
      client.close();
      return Promise.resolve();
    };
    return Promise.resolve(apiServerHand(client, `/${tenancy.schema}/`, close));
  };
  const hand = await anotherHand();
  return {
    data,
    hand,
    anotherHand,
    ensure: () => session.ensure(tenancy),
    content: () => measuredContent(session, tenancy),
    compact: async () => {
      const { header } = await administrator.kv.range({ key: Buffer.from('a') });
      await administrator.kv.compact({ revision: header.revision, physical: true });
    },
    [Symbol.asyncDispose]: async () => {
      await data[Symbol.asyncDispose]();
      await hand[Symbol.asyncDispose]();
    },
  };
}

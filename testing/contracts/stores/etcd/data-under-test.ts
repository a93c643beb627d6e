import { Etcd3 } from 'etcd3';
import type { IOptions } from 'etcd3';
import type { KeyPair } from '../../../../kubeadm/pki/key-pair.ts';
import type { Session, Tenancy } from '../../../../stores/driver.ts';
import type { ApiServerHand, DataTenant, DataUnderTest } from '../../../../stores/contract/tenancy-data-contract.ts';
import type { EtcdConfig } from '../../../../stores/etcd/config.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { patient } from '../../../patient.ts';
import type { EtcdOptions, EtcdServer } from '../../../servers/etcd-server.ts';
import { startEtcdDataStore } from './data-store.ts';
import { apiServerHand } from '../api-server-client.ts';
import { pairOf, rawEtcdClient } from '../../../../stores/etcd/isolation/raw-client.ts';
import { countedWrites } from '../counted-writes.ts';
import { measuredContent } from '../measured-content.ts';
import { otherData } from '../other-data.ts';

/** An etcd that gives tenancies. */
export interface EtcdDataUnderTest extends DataUnderTest {
  readonly server: EtcdServer;
}

/** An etcd with authentication that gives tenancies, whose hands are etcd clients with the tenants' certificates. */
export async function startEtcdDataUnderTest(
  release?: string,
  flags: EtcdOptions['flags'] = {},
): Promise<EtcdDataUnderTest> {
  const store = await startEtcdDataStore({ release, flags });
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  const session = await etcdDriver.open(config, new AbortController().signal);
  const administrator = rawEtcdClient(config, store.tls.root);
  let count = 0;
  return {
    server: store.server,
    tenant: async () => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      return etcdDataTenant({ config, session, administrator }, { schema: name, user: name, owner });
    },
    [Symbol.asyncDispose]: async () => {
      administrator.close();
      await session[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** An etcd with open administrative connections. */
export interface EtcdUnderTest {
  readonly config: EtcdConfig;
  readonly session: Session;
  readonly administrator: Etcd3;
}

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/** One attempt, as kube-apiserver makes: the library would repeat a write that may have taken effect. */
const once = { execute: async (run, signal) => run({ signal: signal ?? new AbortController().signal }) } as Policy;

/** A client of all members with the tenant's certificate. */
function clientOf(config: EtcdConfig, pair: KeyPair): Etcd3 {
  return new Etcd3({
    hosts: config.endpoints.map((endpoint) => `https://${endpoint}`),
    credentials: {
      rootCertificate: Buffer.from(config.ca),
      certChain: Buffer.from(pair.certificate),
      privateKey: Buffer.from(pair.key),
    },
    grpcOptions: { 'grpc.use_local_subchannel_pool': 1, 'grpc.max_reconnect_backoff_ms': 500 },
    faultHandling: { global: once, host: () => once },
    defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + patient(10_000) }),
  });
}

/** Makes a tenancy whose hands are etcd clients with the tenant's certificate. */
export async function etcdDataTenant(
  { config, session, administrator }: EtcdUnderTest,
  tenancy: Tenancy,
): Promise<DataTenant> {
  await session.ensure(tenancy);
  const tls = await etcdDriver.clientTls(config, tenancy, undefined, new Date());
  const data = await session.data?.(tenancy);
  if (data === undefined) throw new Error('the driver of etcd cannot copy');
  const root = `/${tenancy.schema}/`;
  const anotherHand = (): Promise<ApiServerHand> => {
    const client = clientOf(config, pairOf({ tenancy, tls }));
    const close = (): Promise<void> => {
      client.close();
      return Promise.resolve();
    };
    return Promise.resolve(apiServerHand(client, root, close));
  };
  const hand = await anotherHand();
  return {
    data,
    hand,
    root,
    anotherHand,
    anotherData: () => otherData(session, tenancy),
    ensure: () => session.ensure(tenancy),
    content: () => measuredContent(session, tenancy),
    writes: () => countedWrites(session, tenancy),
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

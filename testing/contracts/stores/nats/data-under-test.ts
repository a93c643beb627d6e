import { Etcd3 } from 'etcd3';
import type { IOptions } from 'etcd3';
import type { KineBinding, Session, Tenancy } from '../../../../stores/driver.ts';
import { kineRoot } from '../../../../stores/kine/kine-keys.ts';
import { bucketStreamName } from '../../../../stores/nats/data/bucket.ts';
import { NatsClient } from '../../../../stores/nats/client.ts';
import type { AccountAccess, NatsConfig } from '../../../../stores/nats/config.ts';
import { natsDriver } from '../../../../stores/nats/driver.ts';
import { administratorCredentials } from '../../../../stores/nats/grants.ts';
import type { ApiServerHand, DataTenant } from '../../../../stores/contract/tenancy-data-contract.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { patient } from '../../../patient.ts';
import { startNatsDataStore } from './data-store.ts';
import { startKine } from '../../../servers/kine-server.ts';
import type { NatsOptions, NatsServer } from '../../../servers/nats-server.ts';
import { apiServerHand } from '../api-server-client.ts';
import { countedWrites } from '../counted-writes.ts';
import { measuredContent } from '../measured-content.ts';
import { otherData } from '../other-data.ts';

/** A write that the server refuses is not answered to kine, which then waits for its client's patience to end. */
const patienceMs = patient(3000);

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/** A write that is refused is no reason to leave the next one alone: one attempt for each call, without a circuit breaker. */
const once = { execute: async (run, signal) => run({ signal: signal ?? new AbortController().signal }) } as Policy;

/** NATS servers that give tenancies. */
export interface NatsUnderTest extends AsyncDisposable {
  readonly server: NatsServer;
  tenant(): Promise<NatsDataTenant>;
}

/** A tenancy in a bucket. */
export interface NatsDataTenant extends DataTenant {
  /** The server that leads the stream of the bucket; absent with one server. */
  leader(): Promise<string | undefined>;
}

/** NATS with accounts that gives tenancies, whose hands are kines with the tenants' credentials. */
export async function startNatsDataUnderTest(
  release: NatsOptions['release'] = 'nats-server',
  servers = 1,
): Promise<NatsUnderTest> {
  const store = await startNatsDataStore({ auth: 'accounts', tls: 'server', release, servers });
  const config = await natsDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  if (config.access.mode !== 'accounts') throw new Error('this store has accounts');
  const server = {
    config,
    access: config.access,
    session: await natsDriver.open(config, new AbortController().signal),
  };
  let count = 0;
  return {
    server: store.server,
    tenant: () => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      return newTenant(server, { schema: name, user: name, owner, password: `Pw-${count}` });
    },
    [Symbol.asyncDispose]: async () => {
      await server.session[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

interface Server {
  readonly config: NatsConfig;
  readonly access: AccountAccess;
  readonly session: Session;
}

async function newTenant({ config, access, session }: Server, tenancy: Tenancy): Promise<NatsDataTenant> {
  await session.ensure(tenancy);
  const binding = natsDriver.bind(config, tenancy) as KineBinding;
  const tls = await natsDriver.clientTls(config, tenancy, undefined, new Date());
  const data = await session.data?.(tenancy);
  if (data === undefined) throw new Error('the driver of NATS cannot copy');
  const login = { credentials: administratorCredentials(access, tenancy.schema) };
  const administrator = new NatsClient({ ...config, login, loginName: 'the administrator' });
  const anotherHand = async (): Promise<ApiServerHand> => {
    const kine = await startKine({ binding, tenancy, tls });
    const client = new Etcd3({
      hosts: kine.endpoint,
      grpcOptions: { 'grpc.use_local_subchannel_pool': 1 },
      faultHandling: { global: once, host: () => once },
      defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + patienceMs }),
    });
    return apiServerHand(client, kineRoot, async () => {
      client.close();
      await kine[Symbol.asyncDispose]();
    });
  };
  const hand = await anotherHand();
  return {
    data,
    hand,
    root: kineRoot,
    anotherHand,
    anotherData: () => otherData(session, tenancy),
    ensure: () => session.ensure(tenancy),
    content: () => measuredContent(session, tenancy),
    writes: () => countedWrites(session, tenancy),
    compact: () => forgetVersions(administrator, bucketStreamName(tenancy.schema)),
    leader: () => leaderOf(administrator, bucketStreamName(tenancy.schema)),
    peculiarities: ['keeps changes', 'keeps what others wrote', 'reads lag', 'deletes with two writes'],
    [Symbol.asyncDispose]: async () => {
      await administrator[Symbol.asyncDispose]();
      await data[Symbol.asyncDispose]();
      await hand[Symbol.asyncDispose]();
    },
  };
}

async function leaderOf(client: NatsClient, stream: string): Promise<string | undefined> {
  const { cluster } = await client.api<{ cluster?: { leader?: string } }>('find the leader', `STREAM.INFO.${stream}`);
  return cluster?.leader;
}

/** Leaves the last message of each subject, as a bucket does by itself after ten more. */
async function forgetVersions(client: NatsClient, stream: string): Promise<void> {
  const { state } = await client.api<{ state: { subjects?: Readonly<Record<string, number>> } }>(
    'list subjects',
    `STREAM.INFO.${stream}`,
    { subjects_filter: '>' },
  );
  for (const subject of Object.keys(state.subjects ?? {}))
    await client.api('forget versions', `STREAM.PURGE.${stream}`, { filter: subject, keep: 1 });
}

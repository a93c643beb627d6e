import { setTimeout as delay } from 'node:timers/promises';
import type { BreakableStore } from '../../../../stores/contract/faults/breakable-store.ts';
import { etcdDriver } from '../../../../stores/etcd/driver.ts';
import { rawEtcdClient } from '../../../../stores/etcd/isolation/raw-client.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import type { EtcdServer } from '../../../servers/etcd-server.ts';
import { startEtcdDataStore } from './data-store.ts';
import { etcdDataTenant } from './data-under-test.ts';

interface Status {
  readonly Endpoint: string;
  readonly Status: { readonly header: { readonly member_id: number }; readonly leader: number };
}

/** The place of the leader among the members; waits while one is elected. */
async function leaderOf(server: EtcdServer): Promise<number> {
  for (;;) {
    const statuses = JSON.parse(await server.control('endpoint', 'status', '--write-out=json')) as readonly Status[];
    const leading = statuses.find(({ Status: { header, leader } }) => header.member_id === leader);
    if (leading !== undefined) return server.endpoints.indexOf(leading.Endpoint);
    await delay(100);
  }
}

/** An etcd; of three members it works on without one of them. */
export async function startBreakableEtcd(members = 3): Promise<BreakableStore> {
  const store = await startEtcdDataStore({ members });
  const config = await etcdDriver.configure(store.dataStore, () => Promise.resolve(undefined));
  const session = await etcdDriver.open(config, new AbortController().signal);
  const administrator = rawEtcdClient(config, store.tls.root);
  const dead = new Set<number>();
  let count = 0;
  return {
    tenant: async () => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      const tenant = await etcdDataTenant({ config, session, administrator }, { schema: name, user: name, owner });
      return {
        ...tenant,
        killLeader: async () => {
          const leader = await leaderOf(store.server);
          dead.add(leader);
          await store.server.kill(leader);
          return `etcd member ${leader}`;
        },
      };
    },
    heal: async () => {
      for (const member of dead) await store.server.restart(member);
      dead.clear();
    },
    [Symbol.asyncDispose]: async () => {
      administrator.close();
      await session[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

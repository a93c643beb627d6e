import type { Etcd3 } from 'etcd3';
import type { IsolationProbe, Tenant, TenantHand } from '../../driver.ts';
import { issuedClientTls } from '../../issued-client-tls.ts';
import type { Attack } from '../../isolation/attempt.ts';
import type { EtcdConfig } from '../config.ts';
import { adminAttacks, dataAttacks, leaseAttacks, serverAttacks, sharedDataAttacks, watchAttacks } from './attacks.ts';
import { pairOf, rawEtcdClient } from './raw-client.ts';

/** Seconds; longer than a run takes, so that the lease is there during it, and not much longer. */
const leaseTtl = 60;

/** Acts as tenants of an etcd: clients of the library itself, with the certificate of a tenant. */
export const etcdProbe: IsolationProbe<EtcdConfig> = {
  connect: (config, tenant) => Promise.resolve(handOf(config, tenant)),
  attack,
  isRefusal,
  isAnswer: (error) => error instanceof Error && error.message.includes('etcdserver: ') && !lacks.test(error.message),
};

/** Errors of a server that cannot answer at the moment. */
const lacks = /timed out|leader|unhealthy|too many requests|stopped|not capable/;

function isRefusal(error: unknown): boolean {
  return error instanceof Error && /permission denied|revision of auth/.test(error.message);
}

function handOf(config: EtcdConfig, tenant: Tenant): TenantHand {
  const client = rawEtcdClient(config, pairOf(tenant));
  const path = (key: string): string => `/${tenant.tenancy.schema}/${key}`;
  return {
    read: async (key) => (await client.get(path(key)).string()) ?? undefined,
    write: async (key, value) => {
      await client.put(path(key)).value(value);
    },
    [Symbol.asyncDispose]: () => {
      client.close();
      return Promise.resolve();
    },
  };
}

async function attack(config: EtcdConfig, attacker: Tenant, victim: Tenant): Promise<Attack> {
  const [own, other] = [attacker.tenancy.schema, victim.tenancy.schema];
  const connect = (): Etcd3 => rawEtcdClient(config, pairOf(attacker));
  const client = connect();
  const nobody = { ...attacker.tenancy, user: `${attacker.tenancy.user}-nobody` };
  const stranger = rawEtcdClient(
    config,
    pairOf({ tenancy: nobody, tls: await issuedClientTls(config, nobody, undefined, new Date()) }),
  );
  const victims = rawEtcdClient(config, pairOf(victim));
  const lease = await leaseOf(victims, other);
  return {
    lanes: [
      [
        ...dataAttacks(client, own, other),
        ...adminAttacks(client, attacker.tenancy, victim.tenancy),
        ...leaseAttacks(client, own, lease),
        ...sharedDataAttacks(client, own),
        ...serverAttacks(client),
      ],
      watchAttacks(connect, own, other),
      [
        {
          name: 'a certificate of a user that does not exist',
          reach: 'tenants',
          run: () => stranger.get(`/${own}/a`).string(),
        },
      ],
    ],
    [Symbol.asyncDispose]: async () => {
      // A planted fault, or an attack that succeeded, may have removed the lease or locked the victim out.
      await victims.leaseClient.leaseRevoke({ ID: lease }).catch(() => undefined);
      for (const each of [client, stranger, victims]) each.close();
    },
  };
}

/** A lease with a key of the victim on it. */
async function leaseOf(victims: Etcd3, schema: string): Promise<string> {
  const { ID } = await victims.leaseClient.leaseGrant({ TTL: leaseTtl });
  await victims.put(`/${schema}/leased`).lease(ID).value('x').exec();
  return ID;
}

import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { randomBytes } from 'node:crypto';
import { reaching } from '../../isolation/attempt.ts';
import type { Attempt, Reach, Try } from '../../isolation/attempt.ts';
import { signClaims } from '../claims.ts';
import type { NatsConfig } from '../config.ts';
import { nkeyOfBytes, nkeyOfSeed } from '../nkey.ts';
import type { Nkey } from '../nkey.ts';
import { registryAccount, tenantAccount } from '../grants.ts';
import { ask, listen, readDirect, signing } from './raw-client.ts';
import type { NatsContext } from './raw-client.ts';

/** Milliseconds in which a message that was sent would have arrived. */
const silenceMs = 150;

/** Reads, writes and watches of the victim's bucket, by every way that JetStream has. */
export function bucketAttacks(client: NatsConnection, own: string, victim: string): readonly Attempt[] {
  const stream = `KV_${victim}`;
  const api = (name: string, call: string, body: unknown = {}): Try => ({
    name,
    run: () => ask(client, `$JS.API.${call}`, body),
  });
  const consumer = { name: 'thief', deliver_policy: 'all', ack_policy: 'none', filter_subject: `$KV.${victim}.>` };
  const config = (name: string, more: object): object => ({ name, storage: 'file', retention: 'limits', ...more });
  return reaching('tenants', [
    { name: 'write a key of another tenant', run: () => ask(client, `$KV.${victim}.a`, 'x') },
    { name: 'write into a bucket that does not exist', run: () => ask(client, '$KV.nobody.a', 'x') },
    {
      name: 'read a key of another tenant',
      run: () => readDirect(client, `$JS.API.DIRECT.GET.${stream}.$KV.${victim}.a`),
    },
    {
      name: 'read a message of another tenant by its number',
      run: () => readDirect(client, `$JS.API.DIRECT.GET.${stream}`, { seq: 1 }),
    },
    {
      name: 'read all keys of another tenant',
      run: () => readDirect(client, `$JS.API.DIRECT.GET.${stream}`, { multi_last: ['>'] }),
    },
    api('read a message of another tenant from the leader', `STREAM.MSG.GET.${stream}`, { seq: 1 }),
    api('read the state of the stream of another tenant', `STREAM.INFO.${stream}`),
    api('list the names of all streams', 'STREAM.NAMES'),
    api('list all streams', 'STREAM.LIST'),
    api('purge the stream of another tenant', `STREAM.PURGE.${stream}`),
    api('delete a message of another tenant', `STREAM.MSG.DELETE.${stream}`, { seq: 1 }),
    api('delete the stream of another tenant', `STREAM.DELETE.${stream}`),
    api('change the stream of another tenant', `STREAM.UPDATE.${stream}`, config(stream, { subjects: ['x'] })),
    api('create the stream of another tenant', `STREAM.CREATE.${stream}`, config(stream, { subjects: ['x'] })),
    api('take a snapshot of the stream of another tenant', `STREAM.SNAPSHOT.${stream}`, {
      deliver_subject: '_INBOX.snapshot',
    }),
    api('restore over the stream of another tenant', `STREAM.RESTORE.${stream}`, {
      config: config(stream, { subjects: ['x'] }),
      state: {},
    }),
    api('restore the own stream over that of another tenant', `STREAM.RESTORE.KV_${own}`, {
      config: config(stream, {}),
      state: {},
    }),
    api('move the leader of the stream of another tenant', `STREAM.LEADER.STEPDOWN.${stream}`),
    api('remove a peer of the stream of another tenant', `STREAM.PEER.REMOVE.${stream}`, { peer: 'nats-0' }),
    api('create a consumer of the stream of another tenant', `CONSUMER.CREATE.${stream}`, {
      stream_name: stream,
      config: consumer,
    }),
    api(
      'create a consumer with a filter of the stream of another tenant',
      `CONSUMER.CREATE.${stream}.thief.$KV.${victim}.>`,
      {
        stream_name: stream,
        config: consumer,
      },
    ),
    api('create a consumer of the stream of another tenant by the own name', `CONSUMER.CREATE.KV_${own}`, {
      stream_name: stream,
      config: consumer,
    }),
    api('create a durable consumer of the stream of another tenant', `CONSUMER.DURABLE.CREATE.${stream}.thief`, {
      stream_name: stream,
      config: { ...consumer, durable_name: 'thief' },
    }),
    api('list the consumers of another tenant', `CONSUMER.NAMES.${stream}`),
    api('delete a consumer of another tenant', `CONSUMER.DELETE.${stream}.thief`),
    api('get the next message of a consumer of another tenant', `CONSUMER.MSG.NEXT.${stream}.thief`, { batch: 1 }),
    api(
      'create a stream that captures the keys of another tenant',
      'STREAM.CREATE.thief',
      config('thief', { subjects: [`$KV.${victim}.>`] }),
    ),
    api('create a stream that captures everything', 'STREAM.CREATE.thief', config('thief', { subjects: ['>'] })),
    api(
      'create the own stream so that it captures everything',
      `STREAM.CREATE.KV_${own}`,
      config(`KV_${own}`, { subjects: ['>'] }),
    ),
    api(
      'create a mirror of the stream of another tenant',
      'STREAM.CREATE.thief',
      config('thief', { mirror: { name: stream } }),
    ),
    api(
      'create a mirror of the stream of another account',
      'STREAM.CREATE.thief',
      config('thief', mirrorOf(stream, victim)),
    ),
    api(
      'create the own stream as a mirror of that of another account',
      `STREAM.CREATE.KV_${own}`,
      config(`KV_${own}`, mirrorOf(stream, victim)),
    ),
    api('widen the own stream', `STREAM.UPDATE.KV_${own}`, config(`KV_${own}`, { subjects: ['>'] })),
    api('delete the own stream', `STREAM.DELETE.KV_${own}`),
    api('purge the own stream', `STREAM.PURGE.KV_${own}`),
    api('read the ownership records', 'STREAM.MSG.GET.KV_steward-tenancies', { seq: 1 }),
    { name: 'write an ownership record', run: () => ask(client, `$KV.steward-tenancies.schemas.${victim}`, '{}') },
  ]);
}

function mirrorOf(stream: string, victim: string): object {
  return { mirror: { name: stream, external: { api: `$JS.${tenantAccount(victim)}.API`, deliver: '_INBOX.x' } } };
}

/** Subscriptions; `stir` makes the victim read and write. */
export function hearingAttacks(
  client: NatsConnection,
  victim: string,
  stir: () => Promise<unknown>,
): readonly Attempt[] {
  const subjects = [`$KV.${victim}.>`, '$KV.>', '>', '*.*.*', '$JS.>', '$JS.API.>', '$JS.ACK.>', '$JS.EVENT.>'];
  const system = ['$SYS.>', `$SYS.ACCOUNT.${tenantAccount(victim)}.>`, '$SYS.REQ.>'];
  return [...subjects, ...system].map((subject) => hearing(client, subject, { stir, of: tenantAccount(victim) }));
}

/** Listens to answers, which every tenant may do: those to the victim must not be among them. */
export function answerAttack(client: NatsConnection, stir: () => Promise<unknown>): Attempt {
  return hearing(client, '_INBOX.>', { stir });
}

function hearing(
  client: NatsConnection,
  subject: string,
  { stir, of = '' }: { readonly stir: () => Promise<unknown>; readonly of?: string },
): Attempt {
  return {
    name: `subscribe to ${of === '' ? subject : subject.replace(of, '<account of another tenant>')}`,
    reach: 'tenants',
    run: async () => {
      using ear = listen(client, subject);
      await client.flush();
      await stir();
      return await ear.within(silenceMs);
    },
  };
}

/** Requests for the system and for administrators. `forged` is an account that the attacker would like to be. */
export function systemAttacks(client: NatsConnection, victim: string, seed: string): readonly Attempt[] {
  const account = tenantAccount(victim);
  const request = (name: string, subject: string, body: unknown = '', reach: Reach = 'tenants'): Attempt => ({
    name,
    reach,
    run: () => ask(client, subject, body),
  });
  const user = nkeyOfSeed('user', seed) ?? nkeyOfBytes('user', randomBytes(32));
  const operator = nkeyOfBytes('operator', randomBytes(32));
  const share = [{ name: 'all', subject: '>', type: 'stream' }];
  const body = { exports: share, limits: { exports: -1, wildcards: true }, type: 'account', version: 2 };
  const claims = { subject: account, issuedAt: Math.floor(Date.now() / 1000), nats: body };
  const deletion = { subject: operator.publicKey, issuedAt: claims.issuedAt, nats: { accounts: [account] } };
  return [
    request(
      'change the account of another tenant, signed by itself',
      '$SYS.REQ.CLAIMS.UPDATE',
      signClaims(operator, claims),
    ),
    request(
      'change the account of another tenant, signed by a user',
      '$SYS.REQ.CLAIMS.UPDATE',
      signClaims(user, claims),
    ),
    request(
      'change the account of another tenant by its name',
      `$SYS.REQ.ACCOUNT.${account}.CLAIMS.UPDATE`,
      signClaims(operator, claims),
    ),
    request('delete the account of another tenant', '$SYS.REQ.CLAIMS.DELETE', signClaims(operator, deletion)),
    request('list the accounts', '$SYS.REQ.CLAIMS.LIST'),
    request('fetch all accounts', '$SYS.REQ.CLAIMS.PACK', '', 'server'),
    request('read the account of another tenant', `$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`),
    request('read the account of the registry', `$SYS.REQ.ACCOUNT.${registryAccount}.CLAIMS.LOOKUP`),
    request('list the connections of another tenant', `$SYS.REQ.ACCOUNT.${account}.CONNZ`),
    request('list the streams of another tenant', `$SYS.REQ.ACCOUNT.${account}.JSZ`),
    request('list the servers', '$SYS.REQ.SERVER.PING'),
    request('list all connections of the server', '$SYS.REQ.SERVER.PING.CONNZ'),
    request('read the configuration of the server', '$SYS.REQ.SERVER.PING.VARZ'),
    request('read the storage of all accounts', '$SYS.REQ.SERVER.PING.JSZ', { accounts: true, streams: true }),
    request('purge the account of another tenant', `$JS.API.ACCOUNT.PURGE.${account}`),
    request('move a stream of another tenant', `$JS.API.ACCOUNT.STREAM.MOVE.${account}.KV_${victim}`, {
      server: 'nats-0',
    }),
    request('remove a server', '$JS.API.SERVER.REMOVE', { peer: 'nats-0' }, 'server'),
    request('make the leader of all servers step down', '$JS.API.META.LEADER.STEPDOWN', '', 'server'),
  ];
}

/** Logins as another user, with the credentials of a tenant. */
export function loginAttacks({ endpoints, tls }: NatsConfig, context: NatsContext, victim: string): readonly Attempt[] {
  const account = tenantAccount(victim);
  const seed = context.user_seed ?? '';
  const own = nkeyOfSeed('user', seed) ?? nkeyOfBytes('user', randomBytes(32));
  const stranger = nkeyOfBytes('account', randomBytes(32));
  const all = { pub: { allow: ['>'] }, sub: { allow: ['>'] }, subs: -1, data: -1, payload: -1 };
  const forged = (issuer: Nkey, more: object): string =>
    signClaims(issuer, { subject: own.publicKey, issuedAt: 1, nats: { ...all, ...more, type: 'user', version: 2 } });
  const secured = tls && {
    tls: { ca: tls.ca, ...(tls.client && { cert: tls.client.certificate, key: tls.client.key }) },
  };
  const login = (name: string, options: object, reach: Reach = 'tenants'): Attempt => ({
    name,
    reach,
    run: async () => {
      for (let left = 5; ; left -= 1) {
        try {
          const client = await connect({ servers: [...endpoints], reconnect: false, ...secured, ...options });
          await client.close();
          return;
        } catch (error) {
          // The server closes the connection while the client still sends, so that its reason may be lost.
          if (left === 0 || !/EPIPE|ECONNRESET/.test(String(error))) throw error;
        }
      }
    },
  });
  const with_ = (jwt: string): object => ({ authenticator: signing(jwt, own.seed) });
  const [head = '', body = '', signature = ''] = (context.user_jwt ?? '').split('.');
  const widened = Buffer.from(
    JSON.stringify({ ...(JSON.parse(Buffer.from(body, 'base64url').toString() || '{}') as object), nats: all }),
  ).toString('base64url');
  return [
    login('log in without credentials', {}),
    login('log in with a user and a password', { user: 'root', pass: 'x' }),
    login(
      'log in to the account of another tenant, signed by a stranger',
      with_(forged(stranger, { issuer_account: account })),
    ),
    login(
      'log in to the account of another tenant, signed by the own user',
      with_(forged(own, { issuer_account: account })),
    ),
    login(
      'log in to the account of the registry, signed by a stranger',
      with_(forged(stranger, { issuer_account: registryAccount })),
    ),
    // A server queries all others for an account that it does not know, and takes seconds until it refuses.
    login('log in to a new account', with_(forged(stranger, {})), 'server'),
    login('log in with the own JWT and other permissions', with_(`${head}.${widened}.${signature}`)),
  ];
}

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
    { name: 'put', run: () => ask(client, `$KV.${victim}.a`, 'x') },
    { name: 'put into what nobody has', run: () => ask(client, '$KV.nobody.a', 'x') },
    { name: 'get', run: () => readDirect(client, `$JS.API.DIRECT.GET.${stream}.$KV.${victim}.a`) },
    { name: 'get by number', run: () => readDirect(client, `$JS.API.DIRECT.GET.${stream}`, { seq: 1 }) },
    { name: 'get all', run: () => readDirect(client, `$JS.API.DIRECT.GET.${stream}`, { multi_last: ['>'] }) },
    api('get from the leader', `STREAM.MSG.GET.${stream}`, { seq: 1 }),
    api('stream info', `STREAM.INFO.${stream}`),
    api('names of streams', 'STREAM.NAMES'),
    api('list of streams', 'STREAM.LIST'),
    api('purge', `STREAM.PURGE.${stream}`),
    api('delete a message', `STREAM.MSG.DELETE.${stream}`, { seq: 1 }),
    api('delete the stream', `STREAM.DELETE.${stream}`),
    api('update the stream', `STREAM.UPDATE.${stream}`, config(stream, { subjects: ['x'] })),
    api('make the stream', `STREAM.CREATE.${stream}`, config(stream, { subjects: ['x'] })),
    api('snapshot', `STREAM.SNAPSHOT.${stream}`, { deliver_subject: '_INBOX.snapshot' }),
    api('restore over it', `STREAM.RESTORE.${stream}`, { config: config(stream, { subjects: ['x'] }), state: {} }),
    api('restore the own name over it', `STREAM.RESTORE.KV_${own}`, { config: config(stream, {}), state: {} }),
    api('move the leader', `STREAM.LEADER.STEPDOWN.${stream}`),
    api('remove a peer', `STREAM.PEER.REMOVE.${stream}`, { peer: 'nats-0' }),
    api('consumer', `CONSUMER.CREATE.${stream}`, { stream_name: stream, config: consumer }),
    api('consumer with a filter', `CONSUMER.CREATE.${stream}.thief.$KV.${victim}.>`, {
      stream_name: stream,
      config: consumer,
    }),
    api('consumer by the own name', `CONSUMER.CREATE.KV_${own}`, { stream_name: stream, config: consumer }),
    api('durable consumer', `CONSUMER.DURABLE.CREATE.${stream}.thief`, {
      stream_name: stream,
      config: { ...consumer, durable_name: 'thief' },
    }),
    api('names of consumers', `CONSUMER.NAMES.${stream}`),
    api('delete a consumer', `CONSUMER.DELETE.${stream}.thief`),
    api('next message', `CONSUMER.MSG.NEXT.${stream}.thief`, { batch: 1 }),
    api('stream that captures the keys', 'STREAM.CREATE.thief', config('thief', { subjects: [`$KV.${victim}.>`] })),
    api('stream that captures everything', 'STREAM.CREATE.thief', config('thief', { subjects: ['>'] })),
    api('own stream that captures everything', `STREAM.CREATE.KV_${own}`, config(`KV_${own}`, { subjects: ['>'] })),
    api('mirror', 'STREAM.CREATE.thief', config('thief', { mirror: { name: stream } })),
    api('mirror of another account', 'STREAM.CREATE.thief', config('thief', mirrorOf(stream, victim))),
    api('own mirror of another account', `STREAM.CREATE.KV_${own}`, config(`KV_${own}`, mirrorOf(stream, victim))),
    api('widen the own stream', `STREAM.UPDATE.KV_${own}`, config(`KV_${own}`, { subjects: ['>'] })),
    api('delete the own stream', `STREAM.DELETE.KV_${own}`),
    api('purge the own stream', `STREAM.PURGE.KV_${own}`),
    api('owners', 'STREAM.MSG.GET.KV_steward-tenancies', { seq: 1 }),
    { name: 'record an owner', run: () => ask(client, `$KV.steward-tenancies.schemas.${victim}`, '{}') },
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
    name: `subscribe to ${of === '' ? subject : subject.replace(of, '<account of the victim>')}`,
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
  const tell = (name: string, subject: string, body: unknown = '', reach: Reach = 'tenants'): Attempt => ({
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
    tell('update of the account, signed by itself', '$SYS.REQ.CLAIMS.UPDATE', signClaims(operator, claims)),
    tell('update of the account, signed by a user', '$SYS.REQ.CLAIMS.UPDATE', signClaims(user, claims)),
    tell(
      'update of the account by its name',
      `$SYS.REQ.ACCOUNT.${account}.CLAIMS.UPDATE`,
      signClaims(operator, claims),
    ),
    tell('deletion of the account', '$SYS.REQ.CLAIMS.DELETE', signClaims(operator, deletion)),
    tell('list of accounts', '$SYS.REQ.CLAIMS.LIST'),
    tell('pack of accounts', '$SYS.REQ.CLAIMS.PACK', '', 'server'),
    tell('the account', `$SYS.REQ.ACCOUNT.${account}.CLAIMS.LOOKUP`),
    tell('the registry', `$SYS.REQ.ACCOUNT.${registryAccount}.CLAIMS.LOOKUP`),
    tell('connections of the account', `$SYS.REQ.ACCOUNT.${account}.CONNZ`),
    tell('streams of the account', `$SYS.REQ.ACCOUNT.${account}.JSZ`),
    tell('servers', '$SYS.REQ.SERVER.PING'),
    tell('connections of all', '$SYS.REQ.SERVER.PING.CONNZ'),
    tell('configuration', '$SYS.REQ.SERVER.PING.VARZ'),
    tell('storage', '$SYS.REQ.SERVER.PING.JSZ', { accounts: true, streams: true }),
    tell('purge of the account', `$JS.API.ACCOUNT.PURGE.${account}`),
    tell('move of a stream', `$JS.API.ACCOUNT.STREAM.MOVE.${account}.KV_${victim}`, { server: 'nats-0' }),
    tell('removal of a server', '$JS.API.SERVER.REMOVE', { peer: 'nats-0' }, 'server'),
    tell('another leader of all', '$JS.API.META.LEADER.STEPDOWN', '', 'server'),
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
          // The server closes the connection while the client still speaks, so that its reason may be lost.
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
    login('nobody', {}),
    login('a user and a password', { user: 'root', pass: 'x' }),
    login("the victim's account, signed by a stranger", with_(forged(stranger, { issuer_account: account }))),
    login("the victim's account, signed by the own user", with_(forged(own, { issuer_account: account }))),
    login('the registry, signed by a stranger', with_(forged(stranger, { issuer_account: registryAccount }))),
    // A server asks all others for an account that it does not know, and takes seconds until it refuses.
    login('a new account', with_(forged(stranger, {})), 'server'),
    login('the own JWT with other permissions', with_(`${head}.${widened}.${signature}`)),
  ];
}

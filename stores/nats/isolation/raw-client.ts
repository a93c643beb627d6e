import { connect } from '@nats-io/transport-node';
import type { Authenticator, Msg, NatsConnection } from '@nats-io/transport-node';
import type { Tenancy } from '../../driver.ts';
import { natsBinding } from '../data/kine-context.ts';
import type { NatsConfig } from '../config.ts';
import { nkeyOfSeed } from '../nkey.ts';

/** JetStream answers at once, or, to what it does not understand, never. A busy machine takes a moment. */
const answerMs = 4000;

/** What a tenant's kine logs in with. */
export interface NatsContext {
  readonly user?: string;
  readonly password?: string;
  readonly user_jwt?: string;
  readonly user_seed?: string;
}

/** The context file of a tenant's kine: all that it is given. */
export function contextOf(config: NatsConfig, tenancy: Tenancy): NatsContext {
  return JSON.parse(natsBinding(config, tenancy).files?.['nats.json'] ?? '{}') as NatsContext;
}

/** Proves to be the user of a JWT, as the library would do more slowly. */
export function signing(jwt: string, seed: string): Authenticator {
  const key = nkeyOfSeed('user', seed);
  return (nonce = '') => ({ jwt, sig: Buffer.from(key?.sign(nonce) ?? []).toString('base64url') });
}

/** A connection of the library itself: tenants are not bound to the calls that our own client knows. */
export async function rawNatsClient({ endpoints, tls }: NatsConfig, login: NatsContext): Promise<NatsConnection> {
  const { user, password, user_jwt: jwt, user_seed: seed } = login;
  return connect({
    servers: [...endpoints],
    reconnect: false,
    ignoreClusterUpdates: true,
    timeout: 5000,
    ...(user !== undefined && { user, pass: password ?? '' }),
    ...(jwt !== undefined && { authenticator: signing(jwt, seed ?? '') }),
    ...(tls && { tls: { ca: tls.ca, ...(tls.client && { cert: tls.client.certificate, key: tls.client.key }) } }),
  });
}

/** The refusal of a server. */
export class NatsRefusal extends Error {
  override readonly name = 'NatsRefusal';
}

interface Refused {
  readonly error?: { readonly description?: string };
}

/** A request whose answer says in JSON whether it was granted. Throws `NatsRefusal` when it was not. */
export async function ask<T>(client: NatsConnection, subject: string, body: unknown = ''): Promise<T> {
  const payload = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
  const answer = (await client.request(subject, payload, { timeout: answerMs })).json<T & Refused>();
  if (answer.error !== undefined) throw new NatsRefusal(answer.error.description ?? 'refused');
  return answer;
}

/** A request whose answer is a message of a stream; undefined when there is none. */
export async function readDirect(
  client: NatsConnection,
  subject: string,
  body: unknown = '',
): Promise<Msg | undefined> {
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const message = await client.request(subject, payload, { timeout: answerMs });
  const { code = 0, description = '' } = message.headers ?? {};
  if (code === 404) return undefined;
  if (code !== 0) throw new NatsRefusal(description);
  return message.headers?.get('KV-Operation') === 'DEL' ? undefined : message;
}

/** A subscription whose first message is waited for. */
export interface Ear extends Disposable {
  /** Resolves with the first message; rejects when the server refuses the subscription, or when none has come after `ms`. */
  within(ms: number): Promise<Msg>;
}

/** Subscribes to a subject. */
export function listen(client: Pick<NatsConnection, 'subscribe'>, subject: string): Ear {
  const { promise, resolve, reject } = Promise.withResolvers<Msg>();
  // The server may refuse before a caller waits.
  promise.catch(() => undefined);
  const subscription = client.subscribe(subject, {
    callback: (error, message) => {
      if (error === null) resolve(message);
      else reject(error);
    },
  });
  return {
    within: async (ms) => {
      const end = setTimeout(() => {
        reject(new NatsRefusal(`nothing was heard at ${subject}`));
      }, ms);
      try {
        return await promise;
      } finally {
        clearTimeout(end);
      }
    },
    [Symbol.dispose]: () => {
      subscription.unsubscribe();
    },
  };
}

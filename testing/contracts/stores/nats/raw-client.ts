import { connect } from '@nats-io/transport-node';
import type { Authenticator, Msg, NatsConnection } from '@nats-io/transport-node';
import type { Tenancy } from '../../../../stores/driver.ts';
import { natsBinding } from '../../../../stores/nats/data/kine-context.ts';
import type { NatsConfig } from '../../../../stores/nats/config.ts';
import { nkeyOfSeed } from '../../../../stores/nats/nkey.ts';

/** JetStream answers at once, or, to what it does not understand, never. */
const answerMs = 1500;

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

/** Resolves with the first message at a subject; rejects when the server refuses, or when none comes within `withinMs`. */
export async function hear(client: NatsConnection, subject: string, withinMs: number): Promise<Msg> {
  return new Promise((resolve, reject) => {
    const end = setTimeout(() => {
      subscription.unsubscribe();
      reject(new NatsRefusal(`nothing was heard at ${subject}`));
    }, withinMs);
    const subscription = client.subscribe(subject, {
      callback: (error, message) => {
        clearTimeout(end);
        if (error === null) resolve(message);
        else reject(error);
      },
    });
  });
}

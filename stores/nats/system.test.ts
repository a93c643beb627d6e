import { describe, expect, test } from '@jest/globals';
import { errors } from '@nats-io/transport-node';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { readClaims, signClaims } from './claims.ts';
import { NatsClient } from './client.ts';
import type { AccountAccess } from './config.ts';
import { tenantClaims } from './grants.ts';
import { operatorKeys, systemCredentials } from './operator.ts';
import { NatsSystem } from './system.ts';

const keys = operatorKeys(Buffer.alloc(32, 5));
const access: AccountAccess = {
  mode: 'accounts',
  operatorSeed: keys.signing.seed,
  systemCredentials: systemCredentials(keys),
  replicas: 1,
  bytesPerTenant: 2 ** 30,
};
const tenancy = { schema: 'alpha', user: 'alpha', owner: 'uid-alpha', password: 'p' };

/** A connection of which a test says what it does. */
class GivenClient extends NatsClient {
  readonly #connection: NatsConnection;

  constructor(connection: Pick<NatsConnection, 'info' | 'requestMany'>) {
    super({ endpoints: [], login: {}, loginName: 'the test' });
    this.#connection = connection as NatsConnection;
  }

  override connection(): Promise<NatsConnection> {
    return Promise.resolve(this.#connection);
  }
}

function message(text: string): Msg {
  const parts: Pick<Msg, 'data' | 'string' | 'json'> = {
    data: Buffer.from(text),
    string: () => text,
    json: () => JSON.parse(text) as never,
  };
  return parts as Msg;
}

/** One server that has a version of an account, and accepts each new one. */
function serverWith(jwt: string) {
  const server = { jwt };
  async function* one(text: string): AsyncGenerator<Msg> {
    yield await Promise.resolve(message(text));
  }
  const client = new GivenClient({
    info: { server_name: 'nats-0' } as NonNullable<NatsConnection['info']>,
    requestMany: (subject, payload) => {
      if (subject.endsWith('.CLAIMS.LOOKUP')) return Promise.resolve(one(server.jwt));
      server.jwt = String(payload);
      return Promise.resolve(one(JSON.stringify({ server: { name: 'nats-0' } })));
    },
  });
  return { server, system: new NatsSystem(client, access) };
}

describe('keepAccount', () => {
  // Of two versions a server that comes back takes the newer one: of the same second, or of a slow clock, a change would be undone.
  test('signs a later version than the servers have, also if a clock that was ahead signed theirs', async () => {
    const ahead = Math.floor(Date.now() / 1000) + 3600;
    const open = tenantClaims(access, tenancy, 'open');
    const { server, system } = serverWith(signClaims(keys.signing, { ...open, issuedAt: ahead }));
    const fenced = tenantClaims(access, tenancy, 'fenced');
    await system.keepAccount(fenced.subject, () => fenced);
    expect(readClaims(server.jwt)).toMatchObject({ issuedAt: ahead + 1, nats: fenced.nats });
    await system.keepAccount(open.subject, () => open);
    expect(readClaims(server.jwt)).toMatchObject({ issuedAt: ahead + 2, nats: open.nats });
  });
});

describe('A connection that was lost a moment ago', () => {
  test('is reported as lost, although the client knows no server anymore', async () => {
    const lost = new GivenClient({
      requestMany: () => Promise.reject(new errors.ClosedConnectionError()),
    });
    await expect(new NatsSystem(lost, access).servers()).rejects.toMatchObject({
      name: 'StoreError',
      reason: 'Unreachable',
    });
  });
});

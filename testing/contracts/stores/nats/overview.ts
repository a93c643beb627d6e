import type { NamesOfServer } from '../../../../stores/contract/driver-contract.ts';
import type { Tenancy } from '../../../../stores/driver.ts';
import { bucketStream } from '../../../../stores/nats/data/bucket.ts';
import { listStreams } from '../../../../stores/nats/ensure-bucket.ts';
import { NatsClient } from '../../../../stores/nats/client.ts';
import type { AccountAccess, NatsConfig } from '../../../../stores/nats/config.ts';
import { readClaims, signClaims } from '../../../../stores/nats/claims.ts';
import { bucketRecords } from '../../../../stores/nats/records.ts';
import type { Records } from '../../../../stores/nats/records.ts';
import { readStream } from '../../../../stores/nats/data/stream-reader.ts';
import {
  administratorCredentials,
  operatorKey,
  registryAccount,
  registryCredentials,
  tenantClaims,
} from '../../../../stores/nats/grants.ts';
import type { AccountBody, AccountClaims } from '../../../../stores/nats/grants.ts';

interface Account {
  readonly subject: string;
  readonly name: string;
  readonly body: AccountBody;
}

/** What all power over a NATS with accounts sees and does, past the driver's own rules. */
export class NatsOverview implements AsyncDisposable {
  readonly records: Records;
  readonly registryCredentials: string;
  readonly #config: NatsConfig;
  readonly #access: AccountAccess;
  readonly #system: NatsClient;
  readonly #registry: NatsClient;
  #pushes = 0;

  constructor(config: NatsConfig, access: AccountAccess) {
    this.#config = config;
    this.#access = access;
    this.registryCredentials = registryCredentials(access);
    this.#system = this.#as(access.systemCredentials);
    this.#registry = this.#as(this.registryCredentials);
    this.records = bucketRecords(this.#registry);
  }

  /** The claims of a tenancy's account as the driver would make them. */
  claims(tenancy: Tenancy): AccountClaims {
    return tenantClaims(this.#access, tenancy, 'open');
  }

  async makeAccount(tenancy: Tenancy): Promise<void> {
    await this.push(this.claims(tenancy));
  }

  /** Returns an account. */
  async push(claims: AccountClaims): Promise<void> {
    this.#pushes += 1;
    const issuedAt = Math.floor(Date.now() / 1000) + this.#pushes;
    await this.pushJwt(signClaims(operatorKey(this.#access), { ...claims, issuedAt }));
  }

  async pushJwt(jwt: string): Promise<void> {
    const answer = (await this.#system.request('push', '$SYS.REQ.CLAIMS.UPDATE', jwt)).json<{ error?: object }>();
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer.error));
  }

  async makeBucket({ schema }: Tenancy): Promise<void> {
    await using account = this.#as(administratorCredentials(this.#access, schema));
    const stream = bucketStream(schema, this.#access.replicas);
    await account.api('make a bucket', `STREAM.CREATE.${stream.name}`, stream);
  }

  /** Every account with its claims, streams, messages and consumers; one line each, sorted. */
  async dump(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const { subject, name, body } of await this.#accounts()) {
      lines.push(`account ${name} ${subject} ${JSON.stringify(body)}`);
      await using account = this.#as(
        subject === registryAccount ? this.registryCredentials : administratorCredentials(this.#access, name),
      );
      for (const stream of await listStreams(account)) {
        const info = await account.api<{ config: object; state: { consumer_count: number } }>(
          'read a stream',
          `STREAM.INFO.${stream}`,
        );
        lines.push(`stream ${name}/${stream} ${JSON.stringify(info.config)} consumers ${info.state.consumer_count}`);
        for await (const { subject: key, data } of readStream(account, { stream, filter: '>', last: true })) {
          lines.push(`message ${name}/${stream} ${key}=${Buffer.from(data).toString()}`);
        }
      }
    }
    return lines.sort();
  }

  async names(): Promise<NamesOfServer> {
    const tenants = (await this.#accounts()).filter(({ subject }) => subject !== registryAccount);
    return { schemas: tenants.map(({ name }) => name), users: tenants.map(({ body }) => body.description) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#system[Symbol.asyncDispose]();
    await this.#registry[Symbol.asyncDispose]();
  }

  #as(credentials: string): NatsClient {
    return new NatsClient({ ...this.#config, login: { credentials }, loginName: 'the overview' });
  }

  /** All but the system account. */
  async #accounts(): Promise<readonly Account[]> {
    const list = (await this.#system.request('list', '$SYS.REQ.CLAIMS.LIST')).json<{ data: readonly string[] }>();
    const found: Account[] = [];
    for (const subject of list.data) {
      const message = await this.#system.request('look up', `$SYS.REQ.ACCOUNT.${subject}.CLAIMS.LOOKUP`);
      const claims = readClaims(message.string());
      if (claims === undefined || claims.name === 'SYS') continue;
      found.push({ subject, name: claims.name ?? '', body: claims.nats as AccountBody });
    }
    return found;
  }
}

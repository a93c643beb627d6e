import { StoreError } from '../store-error.ts';
import type { NatsClient } from './client.ts';
import { isUnanswered } from './errors.ts';
import { readClaims, signClaims } from './claims.ts';
import type { Claims } from './claims.ts';
import type { AccountAccess } from './config.ts';
import { operatorKey } from './grants.ts';
import type { AccountBody, AccountClaims } from './grants.ts';

/** The storage that one server reports. */
export interface JetStreamAnswer {
  readonly server: string;
  readonly version: string;
  readonly enabled: boolean;
  readonly storedBytes: number;
  /** Peers of the cluster that are offline or have not caught up: only its leader knows. */
  readonly away: readonly string[];
}

/** An account as a server has it. */
export type KnownAccount = Claims<AccountBody> & { readonly issuer: string };

interface ServerAnswer {
  readonly server?: { readonly name?: string; readonly ver?: string };
  readonly error?: { readonly description?: string };
}

interface PingAnswer extends ServerAnswer {
  readonly statsz?: { readonly active_servers?: number };
}

interface Peer {
  readonly name?: string;
  readonly offline?: boolean;
  readonly current?: boolean;
}

interface JszAnswer extends ServerAnswer {
  readonly data?: {
    readonly disabled?: boolean;
    readonly storage?: number;
    readonly meta_cluster?: { readonly leader?: string; readonly replicas?: readonly Peer[] };
  };
}

/**
 * Requests of a user of the system account to the servers: about the servers themselves, and their accounts. Throws
 * `StoreError`.
 */
export class NatsSystem {
  readonly #client: NatsClient;
  readonly #access: AccountAccess;

  constructor(client: NatsClient, access: AccountAccess) {
    this.#client = client;
    this.#access = access;
  }

  /** Every server of the system. */
  async servers(): Promise<readonly JetStreamAnswer[]> {
    const answers = await this.#ask<JszAnswer>('read the state of the servers', '$SYS.REQ.SERVER.PING.JSZ', '{}');
    return answers.map(({ server, data }) => ({
      server: server?.name ?? '',
      version: server?.ver ?? '',
      enabled: data?.disabled !== true,
      storedBytes: data?.storage ?? 0,
      away: server?.name === data?.meta_cluster?.leader ? awayOf(data?.meta_cluster?.replicas ?? []) : [],
    }));
  }

  /** Throws unless the servers accept accounts that the operator's key has signed, and delete them on request. */
  async requireResolver(): Promise<void> {
    const answers = await this.#ask<ServerAnswer>('check the resolver', '$SYS.REQ.CLAIMS.DELETE', this.#deletion([]));
    if (answers.length === 0) {
      const help = 'configure resolver with type: full and allow_delete: true';
      throw new StoreError('Unsupported', `the NATS servers accept no accounts: ${help}`);
    }
    const refusal = answers.find(({ error }) => error !== undefined)?.error?.description;
    if (refusal === undefined) return;
    if (refusal.includes('must be enabled')) {
      throw new StoreError(
        'Unsupported',
        'the NATS servers do not delete accounts: add allow_delete: true to their resolver',
      );
    }
    const help = 'it must be the key of the operator in the configuration of the servers, or one of its signing keys';
    throw new StoreError('Unauthorized', `the NATS servers do not trust the key of spec.nats.operatorKey: ${help}`);
  }

  /** What the servers know of an account, one answer of each: undefined from one that does not know it. */
  async account(subject: string): Promise<readonly (KnownAccount | undefined)[]> {
    const attempt = `read account ${subject}`;
    const lookup = `$SYS.REQ.ACCOUNT.${subject}.CLAIMS.LOOKUP`;
    const messages = await this.#all(attempt, lookup, '', await this.#live());
    return messages.map((message) => {
      const known = message.data.length === 0 ? undefined : readClaims(message.string());
      return known && { ...known, nats: known.nats as AccountBody };
    });
  }

  /**
   * Updates the account on every server to what `wanted` returns, unless it is up to date; `current` is the newest version that a server
   * has.
   */
  async keepAccount(subject: string, wanted: (current: KnownAccount | undefined) => AccountClaims): Promise<void> {
    const known = await this.account(subject);
    const [current] = known.filter((one) => one !== undefined).sort((left, right) => right.issuedAt - left.issuedAt);
    const claims = wanted(current);
    const key = operatorKey(this.#access);
    const body = JSON.stringify(claims.nats);
    const same = known.every((one) => one?.issuer === key.publicKey && JSON.stringify(one.nats) === body);
    if (known.length > 0 && same) return;
    // When servers reconnect, the newer of two versions wins.
    const issuedAt = Math.max(Math.floor(Date.now() / 1000), (current?.issuedAt ?? 0) + 1);
    const attempt = `set up account ${claims.name ?? subject}`;
    await this.#send(attempt, '$SYS.REQ.CLAIMS.UPDATE', signClaims(key, { ...claims, issuedAt }));
  }

  /** Makes every server forget the account, and closes its connections. */
  async removeAccount(subject: string): Promise<void> {
    await this.#send(`remove account ${subject}`, '$SYS.REQ.CLAIMS.DELETE', this.#deletion([subject]));
  }

  #deletion(accounts: readonly string[]): string {
    const key = operatorKey(this.#access);
    const nats = { accounts, type: 'generic', version: 2 };
    return signClaims(key, { subject: key.publicKey, issuedAt: Math.floor(Date.now() / 1000), nats });
  }

  async #send(attempt: string, subject: string, payload: string): Promise<void> {
    const live = await this.#live();
    const answers = (await this.#all(attempt, subject, payload, live)).map((message) => message.json<ServerAnswer>());
    const refusal = answers.find(({ error }) => error !== undefined);
    if (refusal !== undefined) {
      const { server, error } = refusal;
      throw new StoreError(
        'Failed',
        `NATS server ${server?.name ?? ''} could not ${attempt}: ${error?.description ?? ''}`,
      );
    }
    const silent = live.filter((name) => !answers.some(({ server }) => server?.name === name));
    if (silent.length === 0) return;
    throw new StoreError('Unreachable', `NATS server ${silent.join(', ')} did not answer the request to ${attempt}`);
  }

  async #ask<T>(attempt: string, subject: string, payload: string): Promise<readonly T[]> {
    return (await this.#all(attempt, subject, payload, await this.#live())).map((message) => message.json<T>());
  }

  async #all(attempt: string, subject: string, payload: string, live: readonly string[]) {
    try {
      return await this.#client.requestMany(attempt, subject, payload, (found) => found.length >= live.length);
    } catch (error) {
      if (isUnanswered(error)) return [];
      throw error;
    }
  }

  /** Names of the servers that answer now. The others still count a server for a while after it went offline. */
  async #live(): Promise<readonly string[]> {
    const { info } = await this.#client.connection();
    if (info?.cluster === undefined) return [info?.server_name ?? ''];
    const answers = await this.#client.requestMany('find the servers', '$SYS.REQ.SERVER.PING', '', (found) => {
      const counted = found.map((message) => message.json<PingAnswer>().statsz?.active_servers ?? 1);
      return found.length >= Math.max(...counted);
    });
    return answers.map((message) => message.json<PingAnswer>().server?.name ?? '');
  }
}

function awayOf(peers: readonly Peer[]): readonly string[] {
  return peers.flatMap(({ name, offline, current }) => (offline === true || current === false ? [name ?? ''] : []));
}

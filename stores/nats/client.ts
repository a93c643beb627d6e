import { headers as newHeaders } from '@nats-io/transport-node';
import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { asError, dial } from './dial.ts';
import type { NatsTarget } from './dial.ts';
import { JetStreamRefusal, requestError, unavailableError } from './errors.ts';
import type { Failure } from './errors.ts';

/** What a server reports about itself, or why it does not answer. */
export type EndpointAnswer =
  | {
      readonly endpoint: string;
      readonly version: string;
      readonly jetStream: boolean;
      readonly maxPayload: number;
    }
  | { readonly endpoint: string; readonly failure: Failure };

const requestMs = 5000;
const quietMs = 1000;

/**
 * The connection of one identity to a set of servers, over the NATS library: import it lazily. It connects on first use, and again when the
 * connection was lost; if an endpoint does not answer, the next one is used. Throws `StoreError`; callers handle `JetStreamRefusal` and
 * unanswered requests.
 */
export class NatsClient implements AsyncDisposable {
  readonly #target: NatsTarget;
  #preferred = 0;
  #connection: Promise<NatsConnection> | undefined;

  constructor(target: NatsTarget) {
    this.#target = target;
  }

  /** Dials every endpoint at once. */
  async endpoints(): Promise<readonly EndpointAnswer[]> {
    return Promise.all(
      this.#target.endpoints.map(async (endpoint): Promise<EndpointAnswer> => {
        try {
          const connection = await dial(this.#target, endpoint);
          const { info } = connection;
          await connection.close();
          return {
            endpoint,
            version: info?.version ?? '',
            jetStream: info?.jetstream === true,
            maxPayload: info?.max_payload ?? 0,
          };
        } catch (error) {
          return { endpoint, failure: { endpoint, error: asError(error) } };
        }
      }),
    );
  }

  /** The connection itself, for what is not a request. */
  async connection(): Promise<NatsConnection> {
    const known = this.#connection;
    if (known !== undefined) {
      const current = await known.catch(() => undefined);
      if (current !== undefined && !current.isClosed()) return current;
      // Another caller has connected already.
      if (this.#connection !== known) return this.connection();
    }
    this.#connection = this.#dialAny();
    return this.#connection;
  }

  /** One answer. `attempt` completes "could not" in messages. */
  async request(attempt: string, subject: string, payload: string | Uint8Array = '', headers = {}): Promise<Msg> {
    try {
      const connection = await this.connection();
      return await connection.request(subject, payload, { timeout: requestMs, headers: this.headers(headers) });
    } catch (error) {
      throw requestError(attempt, error);
    }
  }

  /** The answers of several servers, until there are enough or none has come for a second. Silence of all is an empty list. */
  async requestMany(
    attempt: string,
    subject: string,
    payload: string,
    enough: (answers: readonly Msg[]) => boolean,
  ): Promise<readonly Msg[]> {
    try {
      const connection = await this.connection();
      const options = { strategy: 'stall', stall: quietMs, maxWait: requestMs } as const;
      const found: Msg[] = [];
      for await (const message of await connection.requestMany(subject, payload, options)) {
        found.push(message);
        if (enough(found)) break;
      }
      return found;
    } catch (error) {
      throw requestError(attempt, error);
    }
  }

  /** A call of the JetStream API. Throws `StoreError` and `JetStreamRefusal`. */
  async api<T>(attempt: string, call: string, body: object = {}): Promise<T> {
    const message = await this.request(attempt, `$JS.API.${call}`, JSON.stringify(body));
    return granted(message.json<T & Answer>());
  }

  /** Stores a message and returns its sequence number; `last`: only if this is the subject's last one, 0 for none. */
  async store(attempt: string, subject: string, data: string | Uint8Array, stored: StoreOptions = {}): Promise<number> {
    const { last, operation } = stored;
    const headers = {
      ...(last !== undefined && { 'Nats-Expected-Last-Subject-Sequence': String(last) }),
      ...(operation !== undefined && { 'KV-Operation': operation }),
    };
    const message = await this.request(attempt, subject, data, headers);
    return granted(message.json<{ seq: number } & Answer>()).seq;
  }

  /** Headers of a message. */
  headers(fields: Readonly<Record<string, string>>): MsgHdrs {
    const made = newHeaders();
    for (const [name, value] of Object.entries(fields)) made.set(name, value);
    return made;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.close();
  }

  async #dialAny(): Promise<NatsConnection> {
    const { endpoints, loginName } = this.#target;
    const failures: Failure[] = [];
    for (let tried = 0; tried < endpoints.length; tried += 1) {
      const at = (this.#preferred + tried) % endpoints.length;
      const endpoint = endpoints[at] ?? '';
      try {
        const connection = await dial(this.#target, endpoint);
        this.#preferred = at;
        return connection;
      } catch (error) {
        failures.push({ endpoint, error: asError(error) });
      }
    }
    throw unavailableError(failures, loginName);
  }
}

/** How a message is stored. */
export interface StoreOptions {
  readonly last?: number;
  /** Makes it a deletion marker of the key. */
  readonly operation?: 'DEL';
}

interface Answer {
  readonly error?: { readonly err_code?: number; readonly code?: number; readonly description?: string };
}

function granted<T extends Answer>(answer: T): T {
  const { error } = answer;
  if (error === undefined) return answer;
  throw new JetStreamRefusal(error.err_code ?? error.code ?? 0, error.description ?? 'refused');
}

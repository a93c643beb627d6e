import { Etcd3 } from 'etcd3';
import type { IOptions } from 'etcd3';
import type { Credential } from '../credentials.ts';
import { isStaleAuthRevision, isUnavailable, refusedError, unavailableError, wasNeverSent } from './errors.ts';
import type { Failure } from './errors.ts';
import { StatusClient } from './member-status.ts';
import type { MemberStatus } from './member-status.ts';

/** Whom to call, and who calls. */
export interface EtcdTarget {
  /** `host:port`. */
  readonly endpoints: readonly string[];
  /** PEM bundle the servers are checked against. */
  readonly ca: string;
  readonly client: Credential;
  /** The time limit of one call at one endpoint in milliseconds; 5000 by default. */
  readonly deadlineMs?: number;
}

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/**
 * A single attempt (etcd3 calls nothing else of a policy): failover and retries are done here, where it is known which calls are
 * idempotent.
 */
const once = {
  execute: async (run, signal) => run({ signal: signal ?? new AbortController().signal }),
} as Policy;

const lostRaces = 10;

/** Bytes of one answer; above etcd's own bound for a request, so that every single key can be read. */
const largestMessage = 16 * 1024 * 1024;

/** An answer of one endpoint, or why there is none. */
export type Answer<T> =
  { readonly endpoint: string; readonly response: T } | { readonly endpoint: string; readonly failure: Failure };

/**
 * Connections to the endpoints of one etcd cluster, over etcd3 and gRPC. Every call has a deadline and is sent to the next
 * endpoint when one does not answer; streams have none. Import it lazily: the library is large.
 */
export class EtcdConnection implements AsyncDisposable {
  readonly #endpoints: readonly { readonly name: string; readonly client: Etcd3; readonly status: StatusClient }[];
  #preferred = 0;

  constructor(target: EtcdTarget) {
    const deadlineMs = target.deadlineMs ?? 5000;
    this.#endpoints = target.endpoints.map((name) => ({
      name,
      status: new StatusClient({ ...target, endpoint: name, deadlineMs }),
      client: new Etcd3({
        hosts: `https://${name}`,
        credentials: {
          rootCertificate: Buffer.from(target.ca),
          certChain: Buffer.from(target.client.certificate),
          privateKey: Buffer.from(target.client.key),
        },
        // Without a separate pool, a new client would inherit the backoff of a closed one.
        grpcOptions: {
          'grpc.use_local_subchannel_pool': 1,
          'grpc.keepalive_time_ms': 30_000,
          'grpc.max_receive_message_length': largestMessage,
        },
        defaultCallOptions: ({ isStream }) => (isStream ? {} : { deadline: Date.now() + deadlineMs }),
        faultHandling: { global: once, host: () => once },
      }),
    }));
  }

  /** The status of every endpoint, queried concurrently. */
  async statuses(): Promise<readonly Answer<MemberStatus>[]> {
    return Promise.all(this.#endpoints.map(({ name, status }) => answerOf(name, () => status.status())));
  }

  /** Calls every endpoint concurrently. */
  async each<T>(run: (client: Etcd3) => PromiseLike<T>): Promise<readonly Answer<T>[]> {
    return Promise.all(this.#endpoints.map(({ name, client }) => answerOf(name, () => run(client))));
  }

  /** Calls this endpoint and no other. `attempt` describes the call in an error. Throws `StoreError`. */
  async at<T>(endpoint: string, attempt: string, run: (client: Etcd3) => PromiseLike<T>): Promise<T> {
    const found = this.#endpoints.find(({ name }) => name === endpoint);
    if (found === undefined) throw new RangeError(`${endpoint} is no endpoint of this connection`);
    try {
      return await settled(() => run(found.client));
    } catch (thrown) {
      const failure = { endpoint, error: asError(thrown) };
      throw isUnavailable(thrown) ? unavailableError([failure]) : refusedError(attempt, failure);
    }
  }

  /** Calls one endpoint after the other until one answers. `attempt` describes the call in an error. Throws `StoreError`. */
  async call<T>(attempt: string, run: (client: Etcd3) => PromiseLike<T>): Promise<T> {
    const failures: Failure[] = [];
    for (let tried = 0; tried < this.#endpoints.length; tried += 1) {
      const at = (this.#preferred + tried) % this.#endpoints.length;
      const endpoint = this.#endpoints[at];
      if (endpoint === undefined) break;
      try {
        const result = await settled(() => run(endpoint.client));
        this.#preferred = at;
        return result;
      } catch (thrown) {
        const failure = { endpoint: endpoint.name, error: asError(thrown) };
        if (!isUnavailable(thrown)) throw refusedError(attempt, failure);
        failures.push(failure);
      }
    }
    throw unavailableError(failures);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { client, status } of this.#endpoints) {
      client.close();
      status.close();
    }
    await Promise.resolve();
  }
}

/** Repeats a call that lost a race against a change of users and roles, or against the end of a connection. */
async function settled<T>(run: () => PromiseLike<T>): Promise<T> {
  for (let left = lostRaces; ; left -= 1) {
    try {
      return await run();
    } catch (error) {
      if (left === 0 || !(isStaleAuthRevision(error) || wasNeverSent(error))) throw error;
    }
  }
}

async function answerOf<T>(endpoint: string, run: () => PromiseLike<T>): Promise<Answer<T>> {
  try {
    return { endpoint, response: await run() };
  } catch (error) {
    return { endpoint, failure: { endpoint, error: asError(error) } };
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

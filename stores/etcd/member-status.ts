import { Client, credentials } from '@grpc/grpc-js';
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader';
import { fromJSON } from '@grpc/proto-loader';
import type { Credential } from '../credentials.ts';

/** What one member reports about itself (`etcdserverpb.StatusResponse`). */
export interface MemberStatus {
  /** Identifiers of members are 64-bit numbers in decimal. */
  readonly memberId: string;
  /** The leader as this member knows it; `0` for none. */
  readonly leaderId: string;
  /** True for a member that does not vote yet. */
  readonly isLearner: boolean;
  /** E.g. `3.6.16`. */
  readonly version: string;
  /** The format of its data, e.g. `3.6.0`; empty before 3.6. It follows the lowest version of all members. */
  readonly storageVersion: string;
  /** The newest revision that it has. */
  readonly revision: bigint;
  /** Bytes of its file. */
  readonly sizeBytes: number;
  /** Bytes of its file that are used; a defragmentation frees the others. */
  readonly inUseBytes: number;
  /** `--quota-backend-bytes`; 0 before 3.6. */
  readonly quotaBytes: number;
}

/** The numbers of the fields are those of etcd's rpc.proto. The client library knows no field of 3.6. */
const messages = {
  nested: {
    etcdserverpb: {
      nested: {
        Maintenance: {
          methods: { Status: { requestType: 'StatusRequest', responseType: 'StatusResponse', comment: '' } },
        },
        StatusRequest: { fields: {} },
        ResponseHeader: { fields: { member_id: { type: 'uint64', id: 2 }, revision: { type: 'int64', id: 3 } } },
        StatusResponse: {
          fields: {
            header: { type: 'ResponseHeader', id: 1 },
            version: { type: 'string', id: 2 },
            dbSize: { type: 'int64', id: 3 },
            leader: { type: 'uint64', id: 4 },
            dbSizeInUse: { type: 'int64', id: 9 },
            isLearner: { type: 'bool', id: 10 },
            storageVersion: { type: 'string', id: 11 },
            dbSizeQuota: { type: 'int64', id: 12 },
          },
        },
      },
    },
  },
};

interface StatusMessage {
  readonly header: { readonly member_id: string; readonly revision: string } | null;
  readonly version: string;
  readonly dbSize: string;
  readonly leader: string;
  readonly dbSizeInUse: string;
  readonly isLearner: boolean;
  readonly storageVersion: string;
  readonly dbSizeQuota: string;
}

const service = fromJSON(messages, { keepCase: true, longs: String, defaults: true })[
  'etcdserverpb.Maintenance'
] as ServiceDefinition;
const method = service.Status as MethodDefinition<object, StatusMessage>;

/** Which server to query, and with which credentials. */
export interface StatusTarget {
  /** `host:port`. */
  readonly endpoint: string;
  /** PEM bundle the server is checked against. */
  readonly ca: string;
  readonly client: Credential;
  /** The time limit of one call in milliseconds. */
  readonly deadlineMs: number;
}

/** Queries the status of one member. Throws what gRPC throws. */
export class StatusClient {
  readonly #client: Client;
  readonly #deadlineMs: number;

  constructor({ endpoint, ca, client, deadlineMs }: StatusTarget) {
    const tls = credentials.createSsl(Buffer.from(ca), Buffer.from(client.key), Buffer.from(client.certificate));
    // Without a separate pool, a new client would inherit the backoff of a closed one.
    this.#client = new Client(endpoint, tls, { 'grpc.use_local_subchannel_pool': 1, 'grpc.keepalive_time_ms': 30_000 });
    this.#deadlineMs = deadlineMs;
  }

  async status(): Promise<MemberStatus> {
    const answer = await new Promise<StatusMessage>((resolve, reject) => {
      this.#client.makeUnaryRequest(
        method.path,
        (request: object) => method.requestSerialize(request),
        (bytes: Buffer) => method.responseDeserialize(bytes),
        {},
        { deadline: Date.now() + this.#deadlineMs },
        (error, response) => {
          if (error === null && response !== undefined) resolve(response);
          else reject(error ?? new Error('etcd answered with an empty status'));
        },
      );
    });
    return {
      memberId: answer.header?.member_id ?? '0',
      leaderId: answer.leader,
      isLearner: answer.isLearner,
      version: answer.version,
      storageVersion: answer.storageVersion,
      revision: BigInt(answer.header?.revision ?? 0),
      sizeBytes: Number(answer.dbSize),
      inUseBytes: Number(answer.dbSizeInUse),
      quotaBytes: Number(answer.dbSizeQuota),
    };
  }

  close(): void {
    this.#client.close();
  }
}

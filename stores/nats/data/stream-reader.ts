import type { Msg } from '@nats-io/transport-node';
import { StoreError } from '../../store-error.ts';
import type { NatsClient } from '../client.ts';

/** One message of a stream. */
export interface StreamMessage {
  readonly subject: string;
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
  /** Empty if only headers were requested. */
  readonly data: Uint8Array;
  /** Bytes of the data, also if only headers were requested. */
  readonly size: number;
  /** True for a mark that the key is gone. */
  readonly isMark: boolean;
  /** Sequence of the subject's message before, as the writer expected it; undefined when it expected nothing. */
  readonly expected: number | undefined;
}

/** What is read of a stream. */
export interface ReadRequest {
  readonly stream: string;
  readonly filter: string;
  /** The first sequence; 1 by default. */
  readonly from?: number;
  /** Only the last message of each subject. */
  readonly last?: boolean;
  readonly headersOnly?: boolean;
}

const batch = 500;
/** More than a message may have, or it could never be read. */
const batchBytes = 16 * 1024 * 1024;
const waitMs = 5000;
const idleNs = 60_000_000_000;

let consumers = 0;

/**
 * The messages of a stream in their order, up to those that are there when the reading gets there. Reads through a consumer, which
 * the stream's leader serves: copies may lag behind. Throws `StoreError`.
 */
export async function* readStream(client: NatsClient, request: ReadRequest): AsyncGenerator<StreamMessage> {
  const { stream, filter, from = 1, last = false, headersOnly = false } = request;
  consumers += 1;
  const name = `steward-${process.pid}-${consumers}`;
  const config = {
    name,
    filter_subject: filter,
    ...(last
      ? { deliver_policy: 'last_per_subject' }
      : { deliver_policy: 'by_start_sequence', opt_start_seq: Math.max(from, 1) }),
    ack_policy: 'none',
    replay_policy: 'instant',
    inactive_threshold: idleNs,
    mem_storage: true,
    num_replicas: 1,
    headers_only: headersOnly,
  };
  const call = `CONSUMER.CREATE.${stream}.${name}.${filter}`;
  const made = await client.api<{ num_pending: number }>(`read ${stream}`, call, { stream_name: stream, config });
  try {
    for (let pending = made.num_pending; pending > 0;) {
      let received = 0;
      for await (const message of nextBatch(client, stream, name)) {
        received += 1;
        const [read, left] = messageOf(message);
        pending = left;
        yield read;
      }
      if (received === 0)
        throw new StoreError('Unreachable', `NATS does not answer: stream ${stream} sends no further messages`);
    }
  } finally {
    // One that cannot be deleted, with the stream or the connection gone, ends by itself.
    await client.api(`stop reading ${stream}`, `CONSUMER.DELETE.${stream}.${name}`).catch(() => undefined);
  }
}

async function* nextBatch(client: NatsClient, stream: string, consumer: string): AsyncGenerator<Msg> {
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;
  const body = JSON.stringify({ batch, max_bytes: batchBytes, no_wait: true });
  const connection = await client.connection();
  // Messages keep their subjects, although the library distinguishes requests by them.
  const options = { strategy: 'count', maxMessages: batch, maxWait: waitMs, noMux: true } as const;
  for await (const message of await connection.requestMany(subject, body, options)) {
    // A status in place of a message: the batch ends.
    if ((message.headers?.code ?? 0) !== 0) return;
    yield message;
    if (positionOf(message.reply).pending === 0) return;
  }
}

/** `$JS.ACK.<stream>.<consumer>.<tries>.<seq>.<place>.<time>.<pending>`, newer ones with domain and account in front. */
function positionOf(reply = ''): { readonly seq: number; readonly storedAt: number; readonly pending: number } {
  const tokens = reply.split('.');
  const at = tokens.length > 9 ? 7 : 5;
  const [seq, , time, pending] = tokens.slice(at, at + 4);
  return { seq: Number(seq), storedAt: Number(BigInt(time ?? 0) / 1_000_000n), pending: Number(pending) };
}

function messageOf(message: Msg): readonly [StreamMessage, pending: number] {
  const { seq, storedAt, pending } = positionOf(message.reply);
  const expected = message.headers?.get('Nats-Expected-Last-Subject-Sequence') ?? '';
  const operation = message.headers?.get('KV-Operation') ?? '';
  const size = message.headers?.get('Nats-Msg-Size') ?? '';
  const read = {
    subject: message.subject,
    seq,
    storedAt,
    data: message.data,
    size: size === '' ? message.data.length : Number(size),
    isMark: operation === 'DEL' || operation === 'PURGE',
    expected: expected === '' ? undefined : Number(expected),
  };
  return [read, pending];
}

import { createRequire } from 'node:module';
import path from 'node:path';

import { loadSync } from '@grpc/proto-loader';
import type { ServiceDefinition } from '@grpc/proto-loader';

/** A key with its newest value. */
interface KeyValue {
  /** Of its last change. */
  readonly mod_revision: number;
}

interface Header {
  readonly revision: number;
}

/** What etcd, and kine, answer. */
export interface RangeAnswer {
  readonly header: Header | null;
  readonly kvs: readonly KeyValue[];
}
export interface TxnAnswer {
  readonly header: Header | null;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly response_range?: RangeAnswer }[];
}
export interface WatchAnswer {
  readonly canceled: boolean;
  readonly cancel_reason: string;
  readonly events: readonly unknown[];
}

/** A method, with what makes bytes of its messages. */
export interface Method<Answer> {
  readonly path: string;
  encode(request: object): Buffer;
  decode(bytes: Buffer): Answer;
}

/** etcd's own description of its messages, which comes with the client library. */
const folder = path.join(path.dirname(createRequire(import.meta.url).resolve('etcd3')), '../proto');
const services = loadSync('rpc.proto', { includeDirs: [folder], keepCase: true, longs: Number, defaults: true });

function method<Answer>(service: string, name: string): Method<Answer> {
  const methods = services[`etcdserverpb.${service}`] as ServiceDefinition;
  const found = methods[name];
  if (found === undefined) throw new Error(`etcd has no method ${service}.${name}.`);
  return {
    path: found.path,
    encode: found.requestSerialize,
    decode: (bytes) => found.responseDeserialize(bytes) as Answer,
  };
}

export const methods = {
  range: method<RangeAnswer>('KV', 'Range'),
  txn: method<TxnAnswer>('KV', 'Txn'),
  watch: method<WatchAnswer>('Watch', 'Watch'),
} as const;

/** The write of an API server: only if the key is as it was at the revision, 0 for a key that is not there; else it is read. */
export function guardedPut(key: string, value: Buffer, revision: number): object {
  const name = Buffer.from(key);
  return {
    compare: [{ key: name, target: 'Mod', result: 'Equal', mod_revision: revision }],
    success: [{ request_put: { key: name, value } }],
    failure: revision === 0 ? [] : [{ request_range: { key: name } }],
  };
}

/** A read of one key. */
export function keyRead(key: string): object {
  return { key: Buffer.from(key) };
}

/** The count of all keys that begin with a prefix, which ends with a slash. */
export function prefixCount(prefix: string): object {
  return { ...prefixRange(prefix), count_only: true };
}

/** A watch of an API server on a kind: with the values of before, and a notice every few seconds when nothing changes. */
export function kindWatch(prefix: string, revision: number): object {
  return {
    create_request: { ...prefixRange(prefix), start_revision: revision, progress_notify: true, prev_kv: true },
  };
}

/** The next character after the slash ends the range. */
function prefixRange(prefix: string): { readonly key: Buffer; readonly range_end: Buffer } {
  return { key: Buffer.from(prefix), range_end: Buffer.from(`${prefix.slice(0, -1)}0`) };
}

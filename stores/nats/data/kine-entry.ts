import { parseJson } from '../../../runtime/client/parse-json.ts';
import { CorruptValueError } from './s2-block.ts';
import { decodeStream, encodeStream } from './s2-stream.ts';

/** A key's version as kine v0.16 stores it in a message of its bucket. */
export interface KineEntry {
  /** With kine's root, e.g. `/registry/pods/default/a`. */
  readonly key: string;
  readonly value: Uint8Array;
  /** Seconds to live from the message's time; 0 for ever. */
  readonly lease: number;
  /** Sequence of the message that made the key; 0 in that message itself. */
  readonly createRevision: number;
  /** Sequence of the version before; 0 when there is none. */
  readonly prevRevision: number;
  readonly is: 'created' | 'updated' | 'deleted';
}

/** The bytes of a message. */
export function encodeEntry(entry: KineEntry): Uint8Array {
  const { key, value, lease, createRevision, prevRevision, is } = entry;
  const envelope = {
    KV: {
      Key: key,
      Value: Buffer.from(value).toString('base64'),
      Version: 0,
      CreateRevision: createRevision,
      ModRevision: 0,
      Lease: lease,
    },
    PrevRevision: prevRevision,
    Create: is === 'created',
    Delete: is === 'deleted',
  };
  return encodeStream(Buffer.from(JSON.stringify(envelope)));
}

/** What a message holds; its tenant may have written it by itself. Throws `CorruptValueError`. */
export function decodeEntry(data: Uint8Array): KineEntry {
  const envelope = fieldsOf(parse(decodeStream(data).toString('utf8')));
  const stored = fieldsOf(envelope.KV);
  const value = textOf(stored.Value ?? '');
  return {
    key: textOf(stored.Key ?? ''),
    value: Buffer.from(value, 'base64'),
    lease: numberOf(stored.Lease),
    createRevision: numberOf(stored.CreateRevision),
    prevRevision: numberOf(envelope.PrevRevision),
    is: isSet(envelope.Delete) ? 'deleted' : isSet(envelope.Create) ? 'created' : 'updated',
  };
}

const foreign = (): never => {
  throw new CorruptValueError('a value is not JSON as kine writes it');
};

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return foreign();
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  const isFields = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isFields ? (value as Readonly<Record<string, unknown>>) : foreign();
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : foreign();
}

function numberOf(value: unknown = 0): number {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : foreign();
}

function isSet(value: unknown = false): boolean {
  return typeof value === 'boolean' ? value : foreign();
}

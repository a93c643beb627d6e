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

interface Envelope {
  readonly KV?: {
    readonly Key?: string;
    readonly Value?: string | null;
    readonly CreateRevision?: number;
    readonly Lease?: number;
  } | null;
  readonly PrevRevision?: number;
  readonly Create?: boolean;
  readonly Delete?: boolean;
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

/** What a message holds. Throws `CorruptValueError`. */
export function decodeEntry(data: Uint8Array): KineEntry {
  const envelope = parse(decodeStream(data).toString('utf8'));
  const { KV: stored, PrevRevision: prevRevision = 0, Create: created = false, Delete: deleted = false } = envelope;
  if (stored === undefined || stored === null) throw new CorruptValueError('a value contains no key');
  const { Key: key = '', Value: value, CreateRevision: createRevision = 0, Lease: lease = 0 } = stored;
  const is = deleted ? 'deleted' : created ? 'created' : 'updated';
  return { key, value: Buffer.from(value ?? '', 'base64'), lease, createRevision, prevRevision, is };
}

function parse(text: string): Envelope {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw new CorruptValueError('a value is not JSON as kine writes it');
}

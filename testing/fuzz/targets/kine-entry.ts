import { decodeEntry, encodeEntry } from '../../../stores/nats/data/kine-entry.ts';
import { CorruptValueError, decodeBlock, encodeBlock } from '../../../stores/nats/data/s2-block.ts';
import { decodeStream, encodeStream } from '../../../stores/nats/data/s2-stream.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const entry = {
  key: '/registry/pods/a',
  value: Buffer.from('a'.repeat(90)),
  lease: 60,
  createRevision: 3,
  prevRevision: 4,
};
const message = Buffer.from(encodeEntry({ ...entry, is: 'updated' }));
const json = decodeStream(message);

/** A message of a bucket: the first byte says whether it is whole, without its compression, or one block of it. */
export const kineEntry: FuzzTarget = {
  name: 'kine-entry',
  from: 'whoever has the credentials of a tenant for NATS',
  seeds: () => [
    Buffer.concat([Buffer.of(0), message]),
    Buffer.concat([Buffer.of(1), json]),
    Buffer.concat([Buffer.of(2), encodeBlock(json)]),
  ],
  refusals: [CorruptValueError],
  parse: (input) => {
    const body = input.subarray(1);
    if ((input[0] ?? 0) % 3 === 2) {
      kept(decodeBlock(body).length <= 4 * 1024 * 1024, 'a block is of bounded length');
      return;
    }
    const bytes = (input[0] ?? 0) % 3 === 0 ? body : encodeStream(body);
    if (bytes !== body) kept(Buffer.compare(decodeStream(bytes), body) === 0, 'a stream is read as written');
    const read = decodeEntry(bytes);
    kept(typeof read.key === 'string' && read.value instanceof Uint8Array, 'an entry has a key and a value');
    const { lease, createRevision, prevRevision } = read;
    kept([lease, createRevision, prevRevision].every(Number.isSafeInteger), 'numbers are whole');
    const again = decodeEntry(encodeEntry(read));
    kept(again.key === read.key.toWellFormed() && again.is === read.is, 'an entry is read as written');
    kept(Buffer.compare(again.value, read.value) === 0, 'a value is read as written');
  },
};

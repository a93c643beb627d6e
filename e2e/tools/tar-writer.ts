import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';

/** What one entry of a tar stream holds; `path` is relative to the root, without a leading slash. */
export type TarEntry = { readonly path: string; readonly mode?: number } & (
  | { readonly kind: 'folder' }
  | { readonly kind: 'symlink'; readonly target: string }
  | { readonly kind: 'text'; readonly text: string | Uint8Array }
  /** A file of this machine, read while the archive is written. */
  | { readonly kind: 'file'; readonly source: string }
  /** Content that is made while the archive is written; it must be exactly `size` bytes. */
  | { readonly kind: 'stream'; readonly size: number; readonly open: () => AsyncIterable<Buffer> }
);

const block = 512;
const typeFlag = { folder: '5', symlink: '2', text: '0', file: '0', stream: '0' } as const;
const usualMode = { folder: 0o755, symlink: 0o777, text: 0o644, file: 0o755, stream: 0o644 } as const;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

interface Header {
  readonly path: string;
  readonly mode: number;
  readonly size: number;
  readonly flag: string;
  readonly target?: string;
}

/** One ustar header. Owner, group and time are zero, so that equal content gives equal bytes. */
const header = ({ path, mode, size, flag, target = '' }: Header): Buffer => {
  const bytes = Buffer.alloc(block);
  bytes.write(path, 0, 100);
  bytes.write(octal(mode, 7), 100);
  bytes.write(octal(0, 7), 108);
  bytes.write(octal(0, 7), 116);
  bytes.write(octal(size, 11), 124);
  bytes.write(octal(0, 11), 136);
  bytes.write(' '.repeat(8), 148);
  bytes.write(flag, 156);
  bytes.write(target, 157, 100);
  bytes.write('ustar\x0000', 257, 'latin1');
  let sum = 0;
  for (const byte of bytes) sum += byte;
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
};

const padding = (size: number): Buffer => Buffer.alloc((block - (size % block)) % block);

/** A pax record counts its own length, digits included. */
const paxRecord = (key: string, value: string): string => {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
};

const fits = (text: string): boolean => Buffer.byteLength(text) === text.length && text.length <= 100;

const paxHeader = (path: string, target: string): readonly Buffer[] => {
  const records = [
    ...(fits(path) ? [] : [paxRecord('path', path)]),
    ...(fits(target) ? [] : [paxRecord('linkpath', target)]),
  ];
  if (records.length === 0) return [];
  const body = Buffer.from(records.join(''));
  return [header({ path: 'pax', mode: 0o644, size: body.length, flag: 'x' }), body, padding(body.length)];
};

async function* content(entry: TarEntry, size: number): AsyncGenerator<Buffer> {
  if (entry.kind === 'text') yield Buffer.from(entry.text);
  if (entry.kind !== 'file' && entry.kind !== 'stream') return;
  const chunks: AsyncIterable<Buffer> =
    entry.kind === 'stream' ? entry.open() : createReadStream(entry.source, { highWaterMark: 1024 * 1024 });
  let seen = 0;
  for await (const chunk of chunks) {
    seen += chunk.length;
    yield chunk;
  }
  if (seen === size) return;
  const name = entry.kind === 'file' ? entry.source : entry.path;
  throw new Error(`${name} changed while it was read: ${size} bytes became ${seen}`);
}

const sizeOf = async (entry: TarEntry): Promise<number> => {
  if (entry.kind === 'stream') return entry.size;
  if (entry.kind === 'file') return (await stat(entry.source)).size;
  return entry.kind === 'text' ? Buffer.byteLength(entry.text) : 0;
};

/**
 * A POSIX tar stream (ustar, with pax records where a name is long or not ASCII) of these entries in this order.
 * Equal entries give equal bytes: no time, no owner. Throws when a file changes its size while it is read.
 */
export async function* tarStream(entries: Iterable<TarEntry>): AsyncGenerator<Buffer> {
  for (const entry of entries) {
    const size = await sizeOf(entry);
    const target = entry.kind === 'symlink' ? entry.target : '';
    const path = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
    yield* paxHeader(path, target);
    yield header({ path, mode: entry.mode ?? usualMode[entry.kind], size, flag: typeFlag[entry.kind], target });
    yield* content(entry, size);
    yield padding(size);
  }
  yield Buffer.alloc(2 * block);
}

import { gunzipSync, gzipSync } from 'node:zlib';
import { Parser } from 'tar';
import type { ReadEntry } from 'tar';
import type { Files } from './release-files.ts';
import { StackError } from './stack-error.ts';

const block = 512;
const largestBytes = 256 * 1024 * 1024;

const octal = (value: number, digits: number): string => `${value.toString(8).padStart(digits, '0')}\0`;

/** Long paths are divided at a slash (POSIX ustar): a hundred bytes behind it, 155 before. */
function divided(path: string): readonly [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ['', path];
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (name !== '' && Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return [prefix, name];
  }
  throw new RangeError(`${path}: the path is too long for a tar archive; shorten its names`);
}

function header(path: string, size: number): Buffer {
  const isFolder = path.endsWith('/');
  const [prefix, name] = divided(path);
  const bytes = Buffer.alloc(block);
  bytes.write(name, 0, 100);
  bytes.write(octal(isFolder ? 0o755 : 0o644, 7), 100);
  bytes.write(octal(0, 7), 108);
  bytes.write(octal(0, 7), 116);
  bytes.write(octal(size, 11), 124);
  bytes.write(octal(0, 11), 136);
  bytes.write(' '.repeat(8), 148);
  bytes.write(isFolder ? '5' : '0', 156);
  bytes.write('ustar\x0000', 257, 'latin1');
  bytes.write(prefix, 345, 155);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return bytes;
}

const foldersOf = (path: string): readonly string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, depth, parts) => `${parts.slice(0, depth + 1).join('/')}/`);

/**
 * A .tgz of these files, the same bytes every time: sorted, without owner and time, all files alike. The package `tar` packs what lies
 * on a disk, with its modes; here the files exist in memory only.
 */
export function packArchive(files: Files, folders: 'with-folders' | 'files-only'): Buffer {
  const paths =
    folders === 'files-only' ? [...files.keys()] : [...files.keys()].flatMap((path) => [...foldersOf(path), path]);
  const entries = [...new Set(paths)].sort().flatMap((path) => {
    const bytes = files.get(path) ?? Buffer.alloc(0);
    return [header(path, bytes.length), bytes, Buffer.alloc((block - (bytes.length % block)) % block)];
  });
  const packed = gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * block)]), { level: 9 });
  // The tenth byte names the operating system (RFC 1952): of unknown, equal input makes equal output everywhere.
  packed[9] = 0xff;
  return packed;
}

/** The files of a .tgz. Throws an error when it is none, holds anything but files and folders, or is too large. */
export async function unpackArchive(archive: Buffer, name: string): Promise<Files> {
  const files = new Map<string, Buffer>();
  try {
    const tar = gunzipSync(archive, { maxOutputLength: largestBytes });
    await new Promise<void>((resolve, reject) => {
      const parser = new Parser({
        strict: true,
        onReadEntry: (entry: ReadEntry) => {
          const path = entry.path.replace(/^\.\//, '');
          if (entry.type !== 'Directory' && !isFile(entry.type, path)) reject(new Error(`${path} is a ${entry.type}`));
          const chunks: Buffer[] = [];
          entry.on('data', (chunk: Buffer) => chunks.push(chunk));
          entry.on('end', () => {
            if (entry.type !== 'Directory') files.set(path, Buffer.concat(chunks));
          });
        },
      });
      parser.on('end', resolve);
      parser.on('error', reject);
      parser.end(tar);
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StackError(`${name} is not an archive of files: ${why}`, { cause: error });
  }
  return files;
}

const isFile = (type: string, path: string): boolean =>
  (type === 'File' || type === 'OldFile') && !path.startsWith('/') && !path.split('/').includes('..');

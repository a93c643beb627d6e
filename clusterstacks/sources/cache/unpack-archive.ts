import { createReadStream } from 'node:fs';
import { mkdir, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { ReadEntry } from 'tar';
import { Parser } from 'tar';

import { describeFailure, failureCode } from '../../../runtime/observe/describe-failure.ts';
import { BadReleaseError } from '../asset-errors.ts';
import type { AssetLimits } from '../asset-limits.ts';

/** How messages name an archive, where it is, and where its content goes; without a folder it is only validated. */
export interface ArchiveToUnpack {
  readonly name: string;
  readonly file: string;
  readonly folder?: string;
}

const maxDepth = 32;
const maxPathLength = 512;
/** Below this size the ratio means nothing: an archive of a few empty files expands several hundred times. */
const harmlessBytes = 4 * 1024 * 1024;
const files = new Set(['File', 'OldFile', 'ContiguousFile']);
const folders = new Set(['Directory', 'GNUDumpDir']);

/**
 * Unpacks an untrusted `.tgz`: only files and folders, below the given folder, each once, and within the limits. There are
 * no links that could lead outside, and every file must be new.
 * @returns the names at its top.
 * @throws BadReleaseError when it is broken or not harmless. The caller removes what was unpacked until then.
 */
export async function unpackArchive(
  archive: ArchiveToUnpack,
  limits: AssetLimits,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const top = new Set<string>();
  const stop = new AbortController();
  const failed: { cause?: unknown } = {};
  const fail = (cause: unknown): void => {
    failed.cause ??= cause;
    stop.abort();
  };
  let entries = 0;
  let done: Promise<void> = Promise.resolve();
  const parser = new Parser({
    strict: true,
    maxMetaEntrySize: 64 * 1024,
    onReadEntry: (entry) => {
      entries += 1;
      if (entries > limits.maxEntries) {
        fail(new BadReleaseError(`${archive.name} contains more than ${limits.maxEntries} entries`));
      }
      // One after the other: the parser emits the next entry when this one was read to its end.
      done = done
        .then(() => (failed.cause === undefined ? take(entry, archive, { top, signal: stop.signal }) : undefined))
        .catch(fail)
        .finally(() => {
          entry.resume();
        });
    },
  });
  // The error is emitted again after it was thrown, and needs a listener.
  parser.on('error', fail);
  const ended = new Promise<void>((resolve) => {
    parser.on('end', resolve);
    stop.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const { size: packed } = await stat(archive.file);
  const all = AbortSignal.any([signal, stop.signal]);
  try {
    await pipeline(
      createReadStream(archive.file),
      createGunzip(),
      bounded(archive, packed, limits),
      async (source: AsyncIterable<Buffer>) => {
        for await (const part of source) {
          if (!parser.write(part)) await drained(parser, all);
        }
        parser.end();
      },
      { signal: all },
    );
    await ended;
  } catch (error) {
    fail(error);
  }
  await done;
  if (signal.aborted) throw signal.reason;
  if (failed.cause !== undefined) throw asBadRelease(failed.cause, archive);
  return [...top];
}

async function take(
  entry: ReadEntry,
  archive: ArchiveToUnpack,
  { top, signal }: { readonly top: Set<string>; readonly signal: AbortSignal },
): Promise<void> {
  const path = harmlessPath(entry, archive);
  if (path.length === 0) return;
  top.add(path[0] ?? '');
  if (archive.folder === undefined) return;
  const target = join(archive.folder, ...path);
  try {
    if (folders.has(entry.type)) {
      await mkdir(target, { recursive: true, mode: 0o755 });
      return;
    }
    await mkdir(dirname(target), { recursive: true, mode: 0o755 });
    await write(entry, target, signal);
  } catch (error) {
    const code = failureCode(error);
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error;
    throw new BadReleaseError(`${archive.name} contains ${path.join('/')} twice, or both as a file and as a folder`, {
      cause: error,
    });
  }
}

async function write(entry: ReadEntry, target: string, signal: AbortSignal): Promise<void> {
  // When unpacking is aborted, the rest of an entry never arrives.
  const leave = (): void => {
    entry.destroy(new Error('unpacking was aborted'));
  };
  // The reader gets the error; without a reader it must not end the process.
  entry.on('error', () => undefined);
  if (signal.aborted) return;
  signal.addEventListener('abort', leave, { once: true });
  // `wx` fails if there is something already, so nothing is written through a link.
  const handle = await open(target, 'wx', 0o644);
  try {
    for await (const part of entry) await handle.writeFile(part);
  } finally {
    signal.removeEventListener('abort', leave);
    await handle.close();
  }
}

/** The steps of an entry's path; none for the folder of the archive itself. */
function harmlessPath(entry: ReadEntry, { name }: ArchiveToUnpack): readonly string[] {
  const quoted = JSON.stringify(entry.path.slice(0, 200));
  if (!files.has(entry.type) && !folders.has(entry.type)) {
    throw new BadReleaseError(
      `${name} contains ${quoted} of type ${entry.type}: a release archive may contain only files and folders, no links or devices`,
    );
  }
  const path = entry.path.split('/').filter((step) => step !== '' && step !== '.');
  const isHarmless =
    entry.path.length <= maxPathLength &&
    !entry.path.startsWith('/') &&
    path.length <= maxDepth &&
    !path.some((step) => step === '..' || /[\0-\x1f\x7f\\]/.test(step) || step.length > 255);
  if (!isHarmless) {
    throw new BadReleaseError(
      `${name} contains ${quoted}: paths in a release archive must be short, relative and without ..`,
    );
  }
  if (path.length === 0 && files.has(entry.type)) throw new BadReleaseError(`${name} contains a file without a name`);
  return path;
}

/** Passes data through as long as it is within the limits. */
function bounded({ name }: ArchiveToUnpack, packed: number, limits: AssetLimits): Transform {
  let size = 0;
  return new Transform({
    transform(part: Buffer, _encoding, callback) {
      size += part.length;
      if (size > limits.maxUnpackedBytes) {
        callback(new BadReleaseError(`${name} has more than ${limits.maxUnpackedBytes} bytes when unpacked`));
      } else if (size > harmlessBytes && size > packed * limits.maxRatio) {
        callback(new BadReleaseError(`${name} grows to more than ${limits.maxRatio} times its size when unpacked`));
      } else callback(null, part);
    },
  });
}

async function drained(parser: Parser, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    parser.once('drain', () => {
      signal.removeEventListener('abort', leave);
      resolve();
    });
  });
}

function asBadRelease(cause: unknown, { name }: ArchiveToUnpack): unknown {
  if (cause instanceof BadReleaseError) return cause;
  return new BadReleaseError(`${name} is not a complete gzipped tar archive: ${describeFailure(cause)}`, { cause });
}

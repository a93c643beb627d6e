import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { EnvHttpProxyAgent, fetch } from 'undici';
import type { Dispatcher, Response } from 'undici';
import { errorReason } from './error-reason.ts';

/**
 * Why a download did not come: nobody answers, the host was silent before and is not asked again, there is no such file,
 * or it is not the file that the publisher describes.
 */
export type DownloadFailure = 'unreachable' | 'skipped' | 'missing' | 'checksum';

/** A download that did not come; the message names the address. */
export class DownloadError extends Error {
  readonly failure: DownloadFailure;
  constructor(failure: DownloadFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'DownloadError';
    this.failure = failure;
  }
}

/** Downloads of one run. Remembers hosts that did not answer and does not ask them again. */
export interface Downloads extends AsyncDisposable {
  /** Writes a verified file to `path` and returns its SHA-256 in hexadecimal. Throws `DownloadError`; then `path` does not exist. */
  fetch(from: { readonly url: string; readonly checksumUrl: string }, path: string): Promise<string>;
}

/** The checksum of one file in a publisher's list (`<hex>  <name>` lines) or in a file that holds nothing but a checksum. */
export const checksumFor = (file: string, list: string): string | undefined => {
  for (const line of list.split('\n')) {
    const [sum, name] = line.trim().split(/\s+\*?/);
    if (sum === undefined || !/^[0-9a-f]{64}$/i.test(sum)) continue;
    if (name === undefined || basename(name) === file) return sum.toLowerCase();
  }
  return undefined;
};

/** Waits 2 s for a connection and 10 s for each next piece, unless told otherwise; honors the usual proxy variables. */
export const openDownloads = (limits: { connectMs?: number; silenceMs?: number } = {}): Downloads => {
  const { connectMs = 2000, silenceMs = 10_000 } = limits;
  const dispatcher: Dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: connectMs },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });
  const silent = new Set<string>();

  const request = async (url: string): Promise<Response> => {
    const { host } = new URL(url);
    if (silent.has(host))
      throw new DownloadError('skipped', `${host} did not answer before and is not asked again for ${url}`);
    const unreachable = (why: string, cause?: unknown): DownloadError => {
      silent.add(host);
      return new DownloadError('unreachable', `${url} cannot be reached: ${why}`, cause);
    };
    let response: Response;
    try {
      response = await fetch(url, { dispatcher });
    } catch (error) {
      throw unreachable(errorReason(error), error);
    }
    if (response.ok) return response;
    await response.body?.cancel();
    if (response.status === 404) throw new DownloadError('missing', `${url} does not exist (404)`);
    throw unreachable(`the answer was ${response.status}`);
  };

  const save = async (url: string, path: string): Promise<string> => {
    const response = await request(url);
    if (response.body === null) throw new DownloadError('missing', `${url} has no content`);
    const hash = createHash('sha256');
    const measure = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    try {
      await pipeline(Readable.fromWeb(response.body), measure, createWriteStream(path));
    } catch (error) {
      silent.add(new URL(url).host);
      throw new DownloadError('unreachable', `${url} broke off: ${errorReason(error)}`, error);
    }
    return hash.digest('hex');
  };

  return {
    async fetch({ url, checksumUrl }, path) {
      const file = basename(new URL(url).pathname);
      const expected = checksumFor(file, await (await request(checksumUrl)).text());
      if (expected === undefined) throw new DownloadError('checksum', `${checksumUrl} holds no SHA-256 of ${file}`);
      try {
        const found = await save(url, path);
        if (found === expected) return found;
        throw new DownloadError('checksum', `${url} has SHA-256 ${found}, but its publisher says ${expected}`);
      } catch (error) {
        await rm(path, { force: true });
        throw error;
      }
    },
    async [Symbol.asyncDispose]() {
      await dispatcher.close();
    },
  };
};

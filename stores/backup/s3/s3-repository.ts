import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import type { ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3';
import { sleep } from '../../../runtime/clock.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { exponentialBackoff } from '../../../runtime/queue/backoff.ts';
import { RepositoryError } from '../backup-repository.ts';
import type { BackupRepository } from '../backup-repository.ts';
import { isSegment, segmentsOf } from '../repository-names.ts';
import { explainS3Failure, isOfClock, isPassing, s3FailureName } from './s3-failure.ts';
import type { S3Action } from './s3-failure.ts';
import { s3UrlOf } from './s3-place.ts';
import type { S3Place } from './s3-place.ts';

/** What a repository in a bucket works with. */
export interface S3RepositoryParts {
  /** Sends each request once. */
  readonly client: S3Client;
  readonly place: S3Place;
  readonly clock: Clock;
  /** In [0, 1): `Math.random` in production. */
  readonly random: () => number;
  /** Called before a request is repeated. */
  readonly waiting?: (failure: RepositoryError, retryAfterMs: number) => void;
}

/**
 * A request that fails for a temporary reason is repeated for this time. A server that is restarted meanwhile ends no backup; the changes that
 * are followed must be read before the datastore forgets them, which is after five minutes. In milliseconds.
 */
const patienceMs = 120_000;

const firstWaitMs = 200;
const longestWaitMs = 10_000;

/**
 * A repository in a bucket of a server that speaks the protocol of S3 and shows every object that was written. The bucket must exist. Each
 * file is one object, written by one request: there are no parts that an interruption would leave behind.
 */
export class S3Repository implements BackupRepository {
  readonly #parts: S3RepositoryParts;
  /** What the keys of objects begin with: empty, or with "/" at the end. */
  readonly #prefix: string;

  constructor(parts: S3RepositoryParts) {
    this.#parts = parts;
    const { prefix } = parts.place;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
  }

  async read(name: string): Promise<Uint8Array | undefined> {
    const at = this.#at(name);
    return this.#patiently('s3:GetObject', async (client) => {
      try {
        const { Body: body } = await client.send(new GetObjectCommand(at));
        // A connection may be cut in here, too.
        return await body?.transformToByteArray();
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    });
  }

  async write(name: string, content: Uint8Array): Promise<void> {
    const at = this.#at(name);
    await this.#patiently('s3:PutObject', (client) =>
      client.send(new PutObjectCommand({ ...at, Body: content, ContentType: 'application/octet-stream' })),
    );
  }

  async list(prefix: string): Promise<readonly string[]> {
    const { Bucket, Key: Prefix } = this.#at(prefix);
    const names: string[] = [];
    let token: string | undefined;
    do {
      const page = { Bucket, Prefix, ...(token !== undefined && { ContinuationToken: token }) };
      const answer = await this.#patiently('s3:ListBucket', (client) => client.send(new ListObjectsV2Command(page)));
      for (const { Key: key = '' } of answer.Contents ?? []) names.push(key.slice(this.#prefix.length));
      token = this.#nextOf(answer);
    } while (token !== undefined);
    return names.filter(isName).sort();
  }

  async remove(name: string): Promise<void> {
    const at = this.#at(name);
    await this.#patiently('s3:DeleteObject', async (client) => {
      try {
        await client.send(new DeleteObjectCommand(at));
      } catch (error) {
        // S3 itself says nothing about objects that do not exist.
        if (!isMissing(error)) throw error;
      }
    });
  }

  /** Closes connections. */
  [Symbol.dispose](): void {
    this.#parts.client.destroy();
  }

  #at(name: string): { readonly Bucket: string; readonly Key: string } {
    segmentsOf(name);
    return { Bucket: this.#parts.place.bucket, Key: `${this.#prefix}${name}` };
  }

  #nextOf({ IsTruncated: isTruncated, NextContinuationToken: next }: ListObjectsV2CommandOutput): string | undefined {
    if (isTruncated !== true) return undefined;
    if (next !== undefined) return next;
    throw new RepositoryError(`${this.#where} lists a part of its objects and does not say how to go on`);
  }

  get #where(): string {
    return `the repository ${s3UrlOf(this.#parts.place)}`;
  }

  /** Repeats a request while it fails for temporary reasons, until `patience` is over. */
  async #patiently<T>(action: S3Action, request: (client: S3Client) => Promise<T>): Promise<T> {
    const { client, clock, random, waiting } = this.#parts;
    const backoff = exponentialBackoff({ firstMs: firstWaitMs, capMs: longestWaitMs, random });
    const begun = clock.monotonic();
    let isCorrected = false;
    for (;;) {
      try {
        return await request(client);
      } catch (error) {
        const failure = new RepositoryError(
          `${this.#where} failed: ${explainS3Failure(error, action, this.#parts.place)}`,
          { cause: error },
        );
        if (isOfClock(error) && !isCorrected) {
          isCorrected = true;
          continue;
        }
        const waitMs = backoff.next();
        if (!isPassing(error) || clock.monotonic() - begun + waitMs > patienceMs) throw failure;
        waiting?.(failure, waitMs);
        await sleep(clock, waitMs);
      }
    }
  }
}

const isMissing = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes(s3FailureName(error));

/** Others may have put something into the bucket, such as the empty objects that stand for folders in some programs. */
const isName = (key: string): boolean => key.split('/').every(isSegment);

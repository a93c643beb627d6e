import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { S3Client } from '@aws-sdk/client-s3';
import { describeFailure, failureCode } from '../../../runtime/observe/describe-failure.ts';
import { RepositoryError } from '../backup-repository.ts';

/** How a server is reached. What is absent is read by the AWS SDK from its environment variables and files. */
export interface S3Connection {
  /** URL of a server; absent for AWS. */
  readonly endpoint?: string;
  readonly region?: string;
  /** Whether the bucket is in the path of URLs, and not in the host name. */
  readonly pathStyle: boolean;
  /** The only CAs that are trusted, in PEM; absent for those of Node. */
  readonly ca?: string;
  /** Whether requests may be sent without TLS. */
  readonly allowHttp: boolean;
  /** Variables that name a proxy, such as `HTTPS_PROXY` and `NO_PROXY`. */
  readonly proxy?: Readonly<Record<string, string>>;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** When a request is given up. In milliseconds. */
export interface S3Timeouts {
  /** Until a connection is there. */
  readonly connectMs: number;
  /** While a connection carries nothing. */
  readonly silenceMs: number;
}

const usualTimeouts: S3Timeouts = { connectMs: 10_000, silenceMs: 30_000 };

/**
 * Opens a client that sends each request once: its caller decides what to retry. Must be destroyed. Its requests reject with
 * `RepositoryError` where they would be sent without TLS and may not.
 */
export function openS3Client(connection: S3Connection, { connectMs, silenceMs } = usualTimeouts): S3Client {
  const { endpoint, region, pathStyle, ca, allowHttp, proxy, credentials } = connection;
  // With agents of its own, the library would lose the CA when it first checks whether the server accepts a large body (100-continue).
  const agent = { keepAlive: true, maxSockets: 8, ...(proxy !== undefined && { proxyEnv: proxy }) };
  const client = new S3Client({
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(credentials !== undefined && { credentials }),
    forcePathStyle: pathStyle,
    maxAttempts: 1,
    requestHandler: {
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent({ ...agent, ...(ca !== undefined && { ca }) }),
      connectionTimeout: connectMs,
      socketTimeout: silenceMs,
    },
  });
  client.middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw new ConnectionError(error);
      }
    },
    // The innermost: what fails here is the connection, and no answer.
    { step: 'deserialize', priority: 'low', name: 'translateConnectionErrors' },
  );
  if (!allowHttp) {
    // The endpoint may come from a file of the SDK, too: only the request shows where it goes.
    client.middlewareStack.add(
      (next) => (args) => {
        if (isPlain(args.request)) {
          throw new RepositoryError(
            'the endpoint has no TLS: use one that begins with https://, or allow plain HTTP; it shows names and sizes of backups, not their content',
          );
        }
        return next(args);
      },
      { step: 'build', name: 'refusePlainHttp' },
    );
  }
  return client;
}

/** A request that got no answer. The code is that of Node, such as `ECONNREFUSED`. */
class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(describeFailure(cause), { cause });
    this.code = failureCode(cause);
  }
}

function isPlain(request: unknown): boolean {
  return typeof request === 'object' && request !== null && 'protocol' in request && request.protocol !== 'https:';
}

import { readFileSync } from 'node:fs';
import { describeFailure } from '../../runtime/observe/describe-failure.ts';
import { FolderRepository } from '../../stores/backup/folder-repository.ts';
import type { BackupRepository } from '../../stores/backup/backup-repository.ts';
import { bucketCaVariable } from '../../stores/backup/process/storage-manifest.ts';
import { isS3Url, parseS3Url } from '../../stores/backup/s3/s3-place.ts';
import type { S3Connection } from '../../stores/backup/s3/s3-client.ts';
import type { CommandParts } from '../command-parts.ts';
import type { backupFlags } from '../flags/backup-flags.ts';
import type { FlagValues } from '../flags/flags.ts';
import { UsageError } from '../flags/flags.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The flags that say where backups are. */
export type RepositoryFlags = Pick<
  FlagValues<typeof backupFlags>,
  'repository' | 's3-endpoint' | 's3-region' | 's3-path-style' | 's3-ca-file' | 's3-allow-http'
>;

/** A repository that is open; disposing closes its connections. */
export type OpenRepository = BackupRepository & Partial<Disposable>;

/** Opens a repository, which then logs what it waits for. */
export type RepositoryOpener = (parts: Pick<CommandParts, 'clock' | 'log'>) => Promise<OpenRepository>;

/** Reads where backups are; nothing is contacted before it is opened. @throws UsageError for invalid flags. */
export function repositoryOpener(flags: RepositoryFlags, environment: Environment): RepositoryOpener {
  const { repository } = flags;
  if (repository === '') throw new UsageError('expecting a value for --repository arg');
  if (isS3Url(repository)) return s3Opener(flags, environment);
  if (/^[a-z0-9+.-]+:/i.test(repository)) {
    throw new UsageError(`--repository takes a folder or s3://bucket/prefix, got "${repository}"`);
  }
  const given = (['s3-endpoint', 's3-region', 's3-ca-file'] as const).find((name) => flags[name] !== '');
  if (given !== undefined) throw new UsageError(`--${given} is for s3://bucket/prefix, and --repository is a folder`);
  return () => Promise.resolve(new FolderRepository(repository));
}

function s3Opener(flags: RepositoryFlags, environment: Environment): RepositoryOpener {
  const place = usable('repository', () => parseS3Url(flags.repository));
  const connection = s3ConnectionOf(flags, environment);
  return async ({ clock, log }) => {
    // Loaded only here: the manager has no use for the AWS SDK.
    const [{ openS3Client }, { S3Repository }] = await Promise.all([
      import('../../stores/backup/s3/s3-client.ts'),
      import('../../stores/backup/s3/s3-repository.ts'),
    ]);
    return new S3Repository({
      client: openS3Client(connection),
      place,
      clock,
      random: Math.random,
      waiting: ({ message }, retryAfterMs) => {
        log.warn('the repository does not answer yet', { failure: message, retryAfterMs: Math.round(retryAfterMs) });
      },
    });
  };
}

/**
 * How the server is reached. Credentials, and what is absent here, are found by the AWS SDK in its usual places.
 * @throws UsageError for invalid flags.
 */
export function s3ConnectionOf(flags: RepositoryFlags, environment: Environment): S3Connection {
  const asked = first(flags['s3-endpoint'], environment.AWS_ENDPOINT_URL_S3, environment.AWS_ENDPOINT_URL);
  const endpoint = asked === undefined ? undefined : endpointOf(asked, flags);
  const fallback = endpoint === undefined ? undefined : 'us-east-1';
  const region = first(flags['s3-region'], environment.AWS_REGION, environment.AWS_DEFAULT_REGION, fallback);
  const file = flags['s3-ca-file'];
  const ca = file === '' ? caOf(environment) : usable('s3-ca-file', () => certificatesIn(readFileSync(file, 'utf8')));
  const proxy = proxyVariables.flatMap((name) => {
    const value = first(environment[name], environment[name.toLowerCase()]);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...(proxy.length > 0 && { proxy: Object.fromEntries(proxy) as Readonly<Record<string, string>> }),
    ...(endpoint !== undefined && { endpoint }),
    ...(region !== undefined && { region }),
    ...(ca !== undefined && { ca }),
    pathStyle: isPathStyle(flags['s3-path-style'], endpoint !== undefined),
    allowHttp: flags['s3-allow-http'],
  };
}

/** Each is also known in small letters. */
const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const;

const first = (...texts: readonly (string | undefined)[]): string | undefined =>
  texts.find((text) => text !== undefined && text !== '');

function endpointOf(text: string, flags: RepositoryFlags): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.protocol === 'http:';
  if (url === undefined || (!isPlain && url.protocol !== 'https:') || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--s3-endpoint takes a URL such as https://minio.example.com:9000, got "${text}"`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(
      '--s3-endpoint takes no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment',
    );
  }
  if (isPlain && !flags['s3-allow-http']) {
    throw new UsageError(
      `--s3-endpoint has no TLS: use https://, or --s3-allow-http if anyone who can observe the connection may learn the names and sizes of backups; got "${text}"`,
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function caOf(environment: Environment): string | undefined {
  const text = first(environment[bucketCaVariable]);
  if (text === undefined) return undefined;
  return usable('repository', () => certificatesIn(text));
}

function certificatesIn(text: string): string {
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new Error('its CA has no certificate in PEM');
}

function isPathStyle(text: string, hasEndpoint: boolean): boolean {
  if (text === 'auto') return hasEndpoint;
  if (text === 'true' || text === 'false') return text === 'true';
  throw new UsageError(`--s3-path-style takes auto, true or false, got "${text}"`);
}

function usable<T>(flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`--${flag}: ${describeFailure(error)}`, { cause: error });
  }
}

import { describeFailure, failureCode } from '../../../runtime/observe/describe-failure.ts';
import { s3UrlOf } from './s3-place.ts';
import type { S3Place } from './s3-place.ts';

/** A request to a server, by the name of the permission that it needs. */
export type S3Action = 's3:GetObject' | 's3:PutObject' | 's3:DeleteObject' | 's3:ListBucket';

/** The fields of an error of the client library that are read here. Any of them may be missing. */
interface Failure {
  /** The code of the answer, such as `NoSuchBucket`, or the class of the error. */
  readonly name?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  /** Of the bucket, as some answers say it. */
  readonly Region?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: unknown };
  readonly $response?: { readonly headers?: Readonly<Record<string, unknown>> };
}

const asFailure = (error: unknown): Failure => (typeof error === 'object' && error !== null ? error : {});

/** The code of a server's answer, or the class of another failure. */
export function s3FailureName(error: unknown): string {
  const { name } = asFailure(error);
  return typeof name === 'string' ? name : '';
}

const statusOf = (error: unknown): number | undefined => {
  const status = asFailure(error).$metadata?.httpStatusCode;
  return typeof status === 'number' ? status : undefined;
};

/** The network, or a server that starts, is overloaded or got only a part of what was sent. */
const passingNames = new Set([
  ...['BadDigest', 'IncompleteBody', 'InternalError', 'OperationAborted', 'RequestTimeout', 'ServiceUnavailable'],
  ...['SlowDown', 'TimeoutError', 'XAmzContentSHA256Mismatch'],
]);
const passingStatus = new Set([408, 429, 500, 502, 503, 504]);
const passingCodes = new Set([
  ...['EAI_AGAIN', 'ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETDOWN', 'ENETUNREACH'],
  ...['ENOTFOUND', 'EPIPE', 'ETIMEDOUT', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

/** Whether the same request may succeed some time later. */
export function isPassing(error: unknown): boolean {
  if (isPassingItself(error)) return true;
  const { cause } = asFailure(error);
  return cause !== undefined && isPassing(cause);
}

function isPassingItself(error: unknown): boolean {
  const { message } = asFailure(error);
  return (
    passingNames.has(s3FailureName(error)) ||
    passingStatus.has(statusOf(error) ?? 0) ||
    passingCodes.has(failureCode(error) ?? '') ||
    (typeof message === 'string' && message.startsWith('Checksum mismatch'))
  );
}

/** The client library takes the server's time from an answer of this kind: the next request has the right one. */
export function isOfClock(error: unknown): boolean {
  return ['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture'].includes(s3FailureName(error));
}

const pathStyle =
  'if the server has no host name for each bucket, use path-style URLs: set AWS_ENDPOINT_URL_S3, or --s3-path-style=true';

/** What happened, and what a person can do about it. */
export function explainS3Failure(error: unknown, action: S3Action, place: S3Place): string {
  const { bucket } = place;
  const remedies: Readonly<Record<string, string>> = {
    NoSuchBucket: `bucket ${bucket} does not exist there: create it, or correct its name`,
    AccessDenied: `access is denied: the key needs ${action} for ${resourceOf(action, place)}, and no policy of the bucket may deny it`,
    InvalidAccessKeyId: 'the server does not know the access key ID',
    SignatureDoesNotMatch: 'the secret access key does not belong to the access key ID',
    ExpiredToken: 'the session token has expired: supply a new one, or an access key that does not expire',
    InvalidToken: 'the session token is not valid for the access key ID',
    RequestTimeTooSkewed: 'the clock of this machine differs too much from that of the server',
    CredentialsProviderError:
      'no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name a file with AWS_SHARED_CREDENTIALS_FILE',
    EPROTO: 'the server does not speak TLS: correct the endpoint',
    ENOTFOUND: `the host name cannot be resolved: correct the endpoint; ${pathStyle}`,
    ERR_TLS_CERT_ALTNAME_INVALID: `the certificate of the server is not valid for this host name: correct the endpoint; ${pathStyle}`,
  };
  const said = describeFailure(error);
  const name = s3FailureName(error);
  const code = failureCode(error) ?? '';
  const region = regionOf(error);
  const isElsewhere = ['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'];
  if (region !== undefined && isElsewhere.includes(name)) {
    return `bucket ${bucket} is in the region ${region}: set this region (${said})`;
  }
  const remedy = remedies[name] ?? remedies[code] ?? (isUntrusted(code) ? untrusted : undefined);
  if (remedy !== undefined) return `${remedy} (${said})`;
  const status = statusOf(error);
  return status === undefined ? said : `${name}: ${said} (status ${status})`;
}

const untrusted = 'the certificate of the server is not trusted: supply the CA that issued it';

const isUntrusted = (code: string): boolean => /^(UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_)/.test(code);

/** The region in which a bucket is, where an answer says so. */
function regionOf(error: unknown): string | undefined {
  const { Region: field, $response: response, message } = asFailure(error);
  const [, expected] = /expecting ['"]([a-z0-9-]+)['"]/.exec(typeof message === 'string' ? message : '') ?? [];
  const found = [field, response?.headers?.['x-amz-bucket-region'], expected];
  return found.find((region): region is string => typeof region === 'string' && region !== '');
}

function resourceOf(action: S3Action, place: S3Place): string {
  return action === 's3:ListBucket' ? `bucket ${place.bucket}` : `everything below ${s3UrlOf(place)}`;
}

import { RepositoryError } from '../backup-repository.ts';
import { isSegment } from '../repository-names.ts';

/** Where a repository is: a bucket, and what its names begin with. */
export interface S3Place {
  readonly bucket: string;
  /** Empty, or segments that are separated by "/", without one at the ends. */
  readonly prefix: string;
}

const scheme = 's3://';

/** Whether a text names a bucket rather than a folder. */
export function isS3Url(text: string): boolean {
  return text.startsWith(scheme);
}

/** Parses `s3://bucket` or `s3://bucket/prefix`. Throws `RepositoryError` for anything else. */
export function parseS3Url(text: string): S3Place {
  const [bucket = '', ...rest] = text.slice(scheme.length).replace(/\/+$/, '').split('/');
  if (isS3Url(text) && isBucket(bucket) && rest.every(isSegment)) return { bucket, prefix: rest.join('/') };
  throw new RepositoryError(
    `"${text}" is not a bucket for backups: use s3://bucket or s3://bucket/prefix, where the parts of the prefix have letters, digits, ".", "_" and "-"`,
  );
}

/** The text that `parseS3Url` reads. */
export function s3UrlOf({ bucket, prefix }: S3Place): string {
  return prefix === '' ? `${scheme}${bucket}` : `${scheme}${bucket}/${prefix}`;
}

/** Capital letters and "_" are in names of buckets that are older than the rule against them, and of other servers. */
function isBucket(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(text);
}

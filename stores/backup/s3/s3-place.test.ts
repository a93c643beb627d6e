import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RepositoryError } from '../backup-repository.ts';
import { isS3Url, parseS3Url, s3UrlOf } from './s3-place.ts';

describe('the URL of a bucket', () => {
  test.each([
    ['s3://backups', 'backups', ''],
    ['s3://backups/', 'backups', ''],
    ['s3://backups/steward', 'backups', 'steward'],
    ['s3://backups/clusters/eu-1/', 'backups', 'clusters/eu-1'],
    ['s3://Old_Bucket.example/a', 'Old_Bucket.example', 'a'],
  ])('%s is a place', (text, bucket, prefix) => {
    expect(parseS3Url(text)).toEqual({ bucket, prefix });
  });

  test.each([
    's3://',
    's3:///prefix',
    's3://ab',
    's3://-bucket',
    's3://bucket/a b',
    's3://bucket//a',
    's3://bucket/../other',
    's3://bucket/./a',
    's3://bucket?x',
    's3://key:secret@bucket/a',
    's3:https://host/bucket',
    '/backups',
    '',
  ])('%j is refused with what is accepted', (text) => {
    expect(() => parseS3Url(text)).toThrow(RepositoryError);
    expect(() => parseS3Url(text)).toThrow('use s3://bucket or s3://bucket/prefix');
  });

  test('is the same after it was parsed and written, and never leaves its bucket', () => {
    const part = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/);
    const bucket = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{1,20}[a-z0-9]$/);
    fc.assert(
      fc.property(bucket, fc.array(part, { maxLength: 4 }), (name, parts) => {
        const text = ['s3:/', name, ...parts].join('/');
        if (parts.some((one) => /^\.+$/.test(one))) expect(() => parseS3Url(text)).toThrow(RepositoryError);
        else expect(s3UrlOf(parseS3Url(text))).toBe(text);
      }),
    );
  });

  test('is distinguished from a folder', () => {
    expect(isS3Url('s3://a')).toBe(true);
    expect(['/s3://a', 's3', 's3/a', './s3:', ''].some(isS3Url)).toBe(false);
  });
});

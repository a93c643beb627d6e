import { describe, expect, test } from '@jest/globals';
import { explainS3Failure, isOfClock, isPassing } from './s3-failure.ts';
import type { S3Action } from './s3-failure.ts';

const place = { bucket: 'backups', prefix: 'eu' };

/** An answer of a server, as the client library throws it. */
function answer(name: string, status: number, more: object = {}): Error {
  return Object.assign(new Error(`said ${name}`), { name, $metadata: { httpStatusCode: status }, ...more });
}

/** A failure of the network, as Node throws it. */
const failure = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

const explained = (error: unknown, action: S3Action = 's3:PutObject'): string => explainS3Failure(error, action, place);

describe('what a failed request means', () => {
  test.each([
    [answer('NoSuchBucket', 404), 'bucket backups does not exist there: create it, or correct its name'],
    [answer('InvalidAccessKeyId', 403), 'does not know the access key ID'],
    [answer('SignatureDoesNotMatch', 403), 'the secret access key does not belong to the access key ID'],
    [answer('ExpiredToken', 400), 'the session token has expired'],
    [answer('RequestTimeTooSkewed', 403), 'the clock of this machine differs'],
    [answer('PermanentRedirect', 301, { Region: 'eu-west-1' }), 'is in the region eu-west-1: set this region'],
    [
      answer('PermanentRedirect', 301, { $response: { headers: { 'x-amz-bucket-region': 'eu-west-2' } } }),
      'is in the region eu-west-2: set this region',
    ],
    [
      answer('AuthorizationHeaderMalformed', 400, {
        message: "the region 'us-east-1' is wrong; expecting 'eu-test-1'",
      }),
      'is in the region eu-test-1: set this region',
    ],
    [failure('EPROTO'), 'the server does not speak TLS'],
    [failure('ENOTFOUND'), 'path-style URLs: set AWS_ENDPOINT_URL_S3'],
    [failure('ERR_TLS_CERT_ALTNAME_INVALID'), 'path-style URLs: set AWS_ENDPOINT_URL_S3'],
    [failure('SELF_SIGNED_CERT_IN_CHAIN'), 'is not trusted: supply the CA that issued it'],
    [failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'is not trusted: supply the CA that issued it'],
    [failure('CERT_HAS_EXPIRED'), 'is not trusted'],
    [
      Object.assign(new Error('Could not load'), { name: 'CredentialsProviderError' }),
      'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
    ],
    [answer('InsufficientStorage', 507), 'InsufficientStorage: said InsufficientStorage (status 507)'],
  ])('is explained for %s', (error, expected) => {
    expect(explained(error)).toContain(expected);
    // What the server or the network said is there, too.
    expect(explained(error)).toContain(error.message);
    expect(isPassing(error)).toBe(failure('ENOTFOUND').message === error.message);
  });

  test.each([
    ['s3:GetObject', 'everything below s3://backups/eu'],
    ['s3:PutObject', 'everything below s3://backups/eu'],
    ['s3:DeleteObject', 'everything below s3://backups/eu'],
    ['s3:ListBucket', 'bucket backups'],
  ] as const)('names the permission %s that is missing', (action, resource) => {
    expect(explained(answer('AccessDenied', 403), action)).toContain(`the key needs ${action} for ${resource}`);
  });

  test.each([undefined, 'text', 17, {}, { message: 3, name: {}, $metadata: {} }])(
    'is reported for %j, too',
    (error) => {
      expect(explained(error)).not.toBe('');
      expect(isPassing(error)).toBe(false);
      expect(isOfClock(error)).toBe(false);
    },
  );
});

describe('a failure that may pass', () => {
  test.each([
    answer('SlowDown', 503),
    answer('InternalError', 500),
    answer('UnknownError', 502),
    answer('TooManyRequests', 429),
    answer('BadDigest', 400),
    answer('IncompleteBody', 400),
    answer('RequestTimeout', 400),
    failure('ECONNRESET'),
    failure('ECONNREFUSED'),
    failure('EAI_AGAIN'),
    Object.assign(new Error('silent'), { name: 'TimeoutError' }),
    new Error('Checksum mismatch: expected "a" but received "b" in response header'),
    new Error('the body could not be read', { cause: failure('ECONNRESET') }),
  ])('is %s', (error) => {
    expect(isPassing(error)).toBe(true);
  });

  test.each([
    answer('AccessDenied', 403),
    answer('NoSuchBucket', 404),
    answer('NotImplemented', 501),
    failure('SELF_SIGNED_CERT_IN_CHAIN'),
  ])('is not %s', (error) => {
    expect(isPassing(error)).toBe(false);
  });
});

test('only a wrong clock is corrected', () => {
  expect(isOfClock(answer('RequestTimeTooSkewed', 403))).toBe(true);
  expect(isOfClock(answer('SignatureDoesNotMatch', 403))).toBe(false);
});

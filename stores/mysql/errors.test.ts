import { describe, expect, test } from '@jest/globals';
import { isLost, mysqlError, translated, unreachableError } from './errors.ts';

type Said = readonly [code: string, errno: number | undefined, message: string];

const said = (...[code, errno, message]: Said): unknown =>
  Object.assign(new Error(message), { code, errno, sql: "CREATE USER 'u' IDENTIFIED BY 'very secret words'" });
const explained = (...words: Said): { readonly reason: string; readonly message: string } =>
  translated('try', { endpoint: 'db:1', error: mysqlError(said(...words)) });

describe('mysqlError', () => {
  test('keeps code, number and message, and no statement', () => {
    const error = mysqlError(said('ER_DUP_ENTRY', 1062, 'Duplicate'));
    expect(error).toMatchObject({ code: 'ER_DUP_ENTRY', number: 1062, message: 'Duplicate' });
    expect(JSON.stringify(error) + Object.values(error).join()).not.toContain('secret');
  });

  test('keeps nothing of a syntax error, which quotes its statement', () => {
    const error = mysqlError(said('ER_PARSE_ERROR', 1064, "near 'very secret words'"));
    expect(String(error)).not.toContain('secret');
  });

  test('does not treat the error number of the operating system as one of the server', () => {
    expect(mysqlError(said('ECONNREFUSED', -111, 'connect ECONNREFUSED')).number).toBeUndefined();
    expect(mysqlError(new AggregateError([], '')).message).toBe('');
    expect(mysqlError('text').message).toBe('text');
  });
});

describe('isLost', () => {
  test.each([
    ['ECONNRESET', undefined, true],
    ['PROTOCOL_CONNECTION_LOST', undefined, true],
    ['READ_ONLY', undefined, true],
    ['ER_SERVER_SHUTDOWN', 1053, true],
    ['ER_OPTION_PREVENTS_STATEMENT', 1290, true],
    ['ER_DUP_ENTRY', 1062, false],
    ['ER_LOCK_WAIT_TIMEOUT', 1205, false],
  ])('recognizes %s', (code, errno, lost) => {
    expect(isLost(mysqlError(said(code, errno, 'x')))).toBe(lost);
  });
});

describe('error numbers', () => {
  test.each([1290, 1792, 1836, 1874])('%i means that the server accepts no writes', (errno) => {
    expect(isLost(mysqlError(said('ER_ANY', errno, 'x')))).toBe(true);
  });

  test.each([1044, 1142, 1143, 1227, 1370, 1410, 1419])('%i means that the user lacks permissions', (errno) => {
    expect(explained('ER_ANY', errno, 'x')).toMatchObject({
      reason: 'Unauthorized',
      message: expect.stringMatching(/GRANT ALL/),
    });
  });
});

describe('the message for a person', () => {
  test.each<readonly [Said, string, RegExp]>([
    [['ECONNREFUSED', undefined, 'connect ECONNREFUSED 127.0.0.1:1'], 'Unreachable', /ECONNREFUSED/],
    [['ECONNREFUSED', undefined, ''], 'Unreachable', /ECONNREFUSED/],
    [['READ_ONLY', undefined, 'is a replica'], 'Unreachable', /spec\.endpoints/],
    [['HANDSHAKE_NO_SSL_SUPPORT', undefined, 'x'], 'Unsupported', /remove spec\.tlsConfig/],
    [['HANDSHAKE_SSL_ERROR', undefined, 'self-signed certificate'], 'Unauthorized', /certificateAuthority/],
    [['HANDSHAKE_SSL_ERROR', undefined, 'tlsv1 alert unknown ca'], 'Unauthorized', /clientCertificate/],
    [['AUTH_SWITCH_PLUGIN_ERROR', undefined, 'unknown plugin'], 'Unauthorized', /password/],
    [['ER_ACCESS_DENIED_ERROR', 1045, 'Access denied'], 'Unauthorized', /spec\.basicAuth/],
    [['ER_HOST_NOT_PRIVILEGED', 1130, 'Host'], 'Unauthorized', /host '%'/],
    [['ER_SECURE_TRANSPORT_REQUIRED', 3159, 'insecure'], 'Unauthorized', /set spec\.tlsConfig/],
    [['ER_HOST_IS_BLOCKED', 1129, 'Host'], 'Unreachable', /FLUSH HOSTS/],
    [['ER_CON_COUNT_ERROR', 1040, 'Too many connections'], 'Unreachable', /max_connections/],
    [['ER_SPECIFIC_ACCESS_DENIED_ERROR', 1227, 'you need CREATE USER'], 'Unauthorized', /GRANT ALL/],
    [['ER_OPTION_PREVENTS_STATEMENT', 1290, '--read-only'], 'Unreachable', /accepts writes/],
    [['ER_OPTION_PREVENTS_STATEMENT', 1290, 'running with the --skip-grant-tables'], 'Unauthorized', /every tenant/],
    [['ER_DISK_FULL', 1021, 'Disk full'], 'Failed', /free some space/],
    [['ER_LOCK_WAIT_TIMEOUT', 1205, 'Lock wait'], 'Failed', /another transaction/],
    [['ER_NOT_VALID_PASSWORD', 1819, 'policy'], 'Failed', /validate_password/],
    [['ER_SOMETHING', 4000, 'new trouble'], 'Failed', /new trouble/],
  ])('contains the failure and a fix for %j', (words, reason, text) => {
    const error = explained(...words);
    expect(error.reason).toBe(reason);
    expect(error.message).toMatch(text);
    expect(error.message).toContain('db:1');
  });

  test('names every endpoint, with the reason that a person can fix', () => {
    const failures = [
      { endpoint: 'a:1', error: mysqlError(said('ECONNREFUSED', undefined, 'connect ECONNREFUSED')) },
      { endpoint: 'b:1', error: mysqlError(said('ER_ACCESS_DENIED_ERROR', 1045, 'Access denied')) },
    ];
    const error = unreachableError(failures);
    expect(error.reason).toBe('Unauthorized');
    expect(error.message).toMatch(/a:1: connect ECONNREFUSED; b:1: the server rejected spec\.basicAuth/);
  });
});

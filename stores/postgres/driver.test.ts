import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LoginConfig } from '../login-config.ts';
import { postgresDriver } from './driver.ts';
import { noteOf, refusedError, unavailableError } from './errors.ts';
import { ownershipDatabase, postgresNameProblem } from './names.ts';
import { isSupportedPostgres } from './version.ts';
import { saltOf, scramVerifier } from './scram-verifier.ts';
import { Slots } from './slots.ts';

const config: LoginConfig = {
  endpoints: [
    { name: 'db-0:5432', host: 'db-0', port: 5432 },
    { name: '[fd00::1]:5433', host: 'fd00::1', port: 5433 },
  ],
  username: 'admin',
  password: 'secret',
};
const tenancy = { schema: 'a', user: 'a', owner: 'uid', password: 'tenants-own' };

describe('bind', () => {
  test('returns every endpoint and no credentials, and skips read-only servers', () => {
    const binding = postgresDriver.bind(config, tenancy);
    expect(binding).toMatchObject({ kind: 'kine', connection: 'db-0:5432,[fd00::1]:5433' });
    expect(JSON.stringify(binding)).not.toMatch(/secret|tenants-own|admin/);
    expect(binding).toMatchObject({
      endpoint: expect.stringMatching(
        /^postgres:\/\/\$\(DB_USER\):\$\(DB_PASSWORD\)@\$\(DB_CONNECTION_STRING\)\/\$\(DB_SCHEMA\)\?.*target_session_attrs=read-write/,
      ),
    });
  });

  test('verifies the server if there is a CA', () => {
    const mode = (over: Partial<LoginConfig>): unknown => postgresDriver.bind({ ...config, ...over }, tenancy);
    expect(mode({ tls: { ca: 'ca' } })).toMatchObject({ endpoint: expect.stringContaining('sslmode=verify-full') });
    expect(mode({})).toMatchObject({ endpoint: expect.stringContaining('sslmode=prefer') });
  });
});

describe('isSupportedPostgres', () => {
  test.each([
    ['14.23', false],
    ['15.17', false],
    ['15.18', true],
    ['16.13', false],
    ['16.14', true],
    ['17.9', false],
    ['17.10', true],
    ['18.3', false],
    ['18.4', true],
    ['19.0', true],
    ['19beta1', false],
    ['', false],
  ])('%s has the fixes of the latest advisories: %s', (version, supported) => {
    expect(isSupportedPostgres(version)).toBe(supported);
  });
});

describe('postgresNameProblem', () => {
  const problem = (over: { readonly schema?: string; readonly user?: string }): string | undefined =>
    postgresNameProblem({ ...tenancy, ...over }, 'admin');

  test('refuses names that a statement, a catalog or a connection string would misinterpret', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (name) => {
        if (problem({ schema: name }) === undefined) expect(name).toMatch(/^[a-z0-9_][a-z0-9_-]{0,62}$/);
        if (problem({ user: name }) === undefined) expect(name).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}$/);
      }),
    );
  });

  test('accepts names that PostgreSQL and kine do not change', () => {
    for (const name of ['a', '_a', '1a', 'team-one', 'team_one', 'a'.repeat(63)]) {
      expect(problem({ schema: name, user: name })).toBeUndefined();
    }
    expect(problem({ user: 'Team-One' })).toBeUndefined();
  });

  test('refuses names that are truncated, folded, reserved or an administrator’s', () => {
    for (const schema of ['Team', 'a'.repeat(64), 'postgres', 'template1', ownershipDatabase, 'root']) {
      expect(problem({ schema })).toBeDefined();
    }
    for (const user of ['a'.repeat(64), 'postgres', 'public', 'none', 'pg_monitor', 'admin', 'root']) {
      expect(problem({ user })).toBeDefined();
    }
  });
});

describe('scramVerifier', () => {
  test('equals what PostgreSQL computes from a password', async () => {
    // User, salt and iterations of the example in RFC 7677.
    const stored =
      'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=';
    expect(await scramVerifier('pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'))).toBe(stored);
  });

  test('has a salt for each owner and user that never changes', () => {
    expect(saltOf('owner', 'a')).toEqual(saltOf('owner', 'a'));
    expect(new Set([saltOf('o', 'a'), saltOf('o', 'b'), saltOf('oa', '')].map(String)).size).toBe(3);
    expect(saltOf('owner', 'a')).toHaveLength(16);
  });
});

describe('errors', () => {
  const failure = (over: object, message = 'said'): { endpoint: string; error: Error } => ({
    endpoint: 'db-0:5432',
    error: Object.assign(new Error(message), over),
  });
  const fromServer = (code: string, message?: string): ReturnType<typeof failure> =>
    failure({ code, severity: 'FATAL' }, message);

  test.each([
    ['a refused connection', failure({ code: 'ECONNREFUSED' }), 'Unreachable', /db-0:5432/],
    [
      'an expired server',
      failure({ code: 'CERT_HAS_EXPIRED' }),
      'Unauthorized',
      /spec\.tlsConfig\.certificateAuthority/,
    ],
    [
      'a server of another name',
      failure({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
      'Unauthorized',
      /spec\.tlsConfig\.certificateAuthority/,
    ],
    [
      'a client of another CA',
      failure({ code: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }),
      'Unauthorized',
      /spec\.tlsConfig\.clientCertificate/,
    ],
    [
      'a server without TLS',
      failure({}, 'The server does not support SSL connections'),
      'Unauthorized',
      /remove spec\.tlsConfig/,
    ],
    ['a wrong password', fromServer('28P01'), 'Unauthorized', /correct spec\.basicAuth/],
    ['a host that may not connect', fromServer('28000'), 'Unauthorized', /pg_hba\.conf/],
    ['a full server', fromServer('53300'), 'Unreachable', /max_connections/],
    ['a server that starts', fromServer('57P03'), 'Unreachable', /starting up/],
    ['a full disk', fromServer('53100'), 'Failed', /disk is full/],
    ['any other error', fromServer('42601'), 'Failed', /said/],
  ])('are reported with a fix for %s', (_name, seen, reason, text) => {
    expect(unavailableError([seen])).toMatchObject({ reason, message: expect.stringMatching(text), cause: seen.error });
    expect(refusedError('create role a', seen)).toMatchObject({ reason, message: expect.stringMatching(text) });
    expect(refusedError('create role a', seen).message).toContain('create role a');
  });

  test('name every endpoint, with the reason that a person can fix', () => {
    const refused = unavailableError([failure({ code: 'ECONNREFUSED' }), fromServer('28P01', 'password wrong')]);
    expect(refused).toMatchObject({ reason: 'Unauthorized', message: expect.stringMatching(/said; .*password wrong/) });
  });

  test('name the addresses of a host name whose error has no message', () => {
    const several = new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')]);
    expect(noteOf({ endpoint: 'x:1', error: several })).toBe('x:1: refused ::1, refused 127.0.0.1');
  });
});

describe('Slots', () => {
  test('limits how many calls run at once, and runs all in the end, also after a failure', async () => {
    const slots = new Slots(2);
    let running = 0;
    let most = 0;
    const work = (index: number): Promise<number> =>
      slots.use(async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(setImmediate);
        running -= 1;
        if (index === 1) throw new Error('one fails');
        return index;
      });
    const outcomes = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
      'fulfilled',
    ]);
    expect(most).toBe(2);
  });
});

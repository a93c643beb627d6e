import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { clientPair, serverCa } from '../testing/servers/server-certificates.ts';
import type { LoginConfig } from './login-config.ts';
import { loginClientTls } from './login-client-tls.ts';

const login: LoginConfig = { endpoints: [], username: 'root', password: 'x' };
const tenancy = { schema: 'schema', user: 'tenant', owner: 'uid' };

describe('loginClientTls', () => {
  test('returns nothing without TLS, and only the CA if there is no key to sign with', async () => {
    const ca = await serverCa('ca');
    const client = await clientPair(ca, 'root');
    expect(await loginClientTls(login, tenancy, undefined, new Date())).toBeUndefined();
    const config = { ...login, tls: { ca: ca.certificate, client } };
    expect(await loginClientTls(config, tenancy, undefined, new Date())).toEqual({ ca: ca.certificate });
  });

  test('returns a client certificate if the CA has a key, and keeps it while it is valid', async () => {
    const ca = await serverCa('ca');
    const config = { ...login, tls: { ca: ca.certificate, client: await clientPair(ca, 'root'), signer: ca } };
    const first = await loginClientTls(config, tenancy, undefined, new Date());
    expect(new X509Certificate(first?.certificate ?? '').subject).toBe('CN=tenant');
    expect(await loginClientTls(config, tenancy, first, new Date())).toEqual(first);
    const other = await loginClientTls(config, { ...tenancy, user: 'other' }, first, new Date());
    expect(other?.certificate).not.toBe(first?.certificate);
  });
});

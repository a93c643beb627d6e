import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { answersOk } from './answers-ok.ts';
import { startEtcd } from './etcd-server.ts';
import { clientPair, serverCa } from './server-certificates.ts';

/** Starts etcd in a separate process, prints its endpoint, and waits to be killed. */
const program = `
import { startEtcd } from ${JSON.stringify(join(import.meta.dirname, 'etcd-server.ts'))};
const etcd = await startEtcd();
process.stdout.write(etcd.endpoints[0]);
setInterval(() => undefined, 1000);
`;

describe('startEtcd', () => {
  test('keeps its data when a member is killed, while the others serve', async () => {
    await using etcd = await startEtcd({ tls: true, auth: true, members: 3 });
    expect(etcd.endpoints).toHaveLength(3);
    await etcd.control('put', 'key', 'value');
    await etcd.kill(0);
    expect(await etcd.control('get', 'key', '--print-value-only')).toBe('value\n');
    await etcd.restart(0);
    expect((await etcd.control('endpoint', 'health')).match(/is healthy/g)).toHaveLength(3);
  }, 60_000);

  test('accepts root by its certificate and no client without one if authentication is enabled', async () => {
    await using etcd = await startEtcd({ tls: true, auth: true });
    const { tls, endpoints } = etcd;
    if (tls === undefined) throw new Error('No TLS although it was asked for');
    const url = `${endpoints[0] ?? ''}/readyz`;
    const root = { ca: tls.ca.certificate, cert: tls.root.certificate, key: tls.root.key };
    const forged = await clientPair(await serverCa('etcd-ca'), 'root');
    expect(await answersOk(url, root)).toBe(true);
    expect(await answersOk(url, { ca: tls.ca.certificate })).toBe(false);
    expect(await answersOk(url, { ...root, cert: forged.certificate, key: forged.key })).toBe(false);
    expect(await etcd.control('auth', 'status')).toContain('Authentication Status: true');
    // However much there is.
    const value = 'x'.repeat(100_000);
    for (let index = 0; index < 11; index += 1) await etcd.control('put', `many/${index}`, value);
    expect((await etcd.control('get', 'many/', '--prefix')).length).toBeGreaterThan(1_100_000);
  }, 60_000);

  test('ends with the process that started it, even if that is killed', async () => {
    const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [endpoint] = (await once(child.stdout, 'data')) as [Buffer];
    expect(await answersOk(`${endpoint.toString()}/readyz`)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    // The kernel kills etcd while it ends its parent; its socket is closed when it is gone.
    while (await answersOk(`${endpoint.toString()}/readyz`)) await new Promise(setImmediate);
    expect(existsSync('/usr/bin/setpriv')).toBe(true);
  }, 60_000);

  test('refuses authentication without certificates', async () => {
    await expect(startEtcd({ auth: true })).rejects.toThrow('ask for tls, too');
  });
});

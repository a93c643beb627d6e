import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { startKine } from './kine-server.ts';
import { serverFolder } from './server-folder.ts';

describe('startKine', () => {
  test('sets what the kubelet would set, serves kube-apiserver’s transactions, and keeps data over a kill', async () => {
    await using folder = await serverFolder();
    await using kine = await startKine({
      binding: {
        kind: 'kine',
        endpoint: 'sqlite://$(DB_CONNECTION_STRING)/$(DB_SCHEMA)?_journal=WAL&_busy_timeout=30000&_txlock=immediate',
        connection: folder.path,
        arguments: { 'compact-batch-size': '100' },
      },
      tenancy: { schema: 'tenant.db', user: 'nobody' },
    });
    const key = '/registry/pods/default/a';
    const created = await kine.client.if(key, 'Mod', '==', 0).then(kine.client.put(key).value('kept')).commit();
    expect(created.succeeded).toBe(true);
    await kine.kill();
    expect(kine.running).toBe(false);
    await kine.restart();
    expect(await kine.client.get(key).string()).toBe('kept');
    expect(existsSync(join(folder.path, 'tenant.db'))).toBe(true);
  }, 60_000);

  test('reports the output of kine if it does not start', async () => {
    const binding = { kind: 'kine', endpoint: 'no-such-driver://x', connection: '' } as const;
    await expect(startKine({ binding, tenancy: { schema: 'a', user: 'a' } })).rejects.toThrow(/unknown driver/);
  }, 60_000);
});

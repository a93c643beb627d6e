import { once } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { nothingServer } from '../floor/nothing-server.ts';
import { methods, prefixCount } from './etcd-messages.ts';
import { GrpcConnection } from './grpc-connection.ts';
import { TenantLoad } from './tenant-load.ts';
import { WriteRecorder } from './write-samples.ts';

let folder: string;
let socket: string;
let server: ReturnType<typeof nothingServer>;
let sessions: number;
let paths: string[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'density-'));
  socket = path.join(folder, 'socket');
  server = nothingServer();
  sessions = 0;
  paths = [];
  server.on('session', () => (sessions += 1));
  server.prependListener('stream', (_stream: ServerHttp2Stream, headers) => {
    paths.push(String(headers[':path']));
  });
  server.listen(socket);
  await once(server, 'listening');
});

afterEach(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const open = (connections: 'kinds' | 'one', recorder = new WriteRecorder()): Promise<TenantLoad> =>
  TenantLoad.open(
    {
      ...{ target: { root: '/registry/', endpoint: { socket } }, kinds: ['pods', 'leases'], connections },
      ...{ isMeasured: false, localAddress: '127.0.0.1' },
    },
    recorder,
  );

const watches = (): number => paths.filter((one) => one === methods.watch.path).length;

describe('The load of a tenant', () => {
  test('has a connection and a watch for each kind, as an API server has', async () => {
    using load = await open('kinds');
    expect(load).toBeDefined();
    while (watches() < 2) await once(server, 'stream');
    expect(sessions).toBe(2);
  });

  test('has one connection for all if that is asked for', async () => {
    using load = await open('one');
    expect(load).toBeDefined();
    while (watches() < 2) await once(server, 'stream');
    expect(sessions).toBe(1);
  });

  test('records each renewal of a lease, and one that comes due meanwhile follows', async () => {
    const recorder = new WriteRecorder();
    using load = await open('kinds', recorder);
    recorder.begin();
    const before = paths.filter((one) => one === methods.txn.path).length;
    const renewal = { is: 'renew', which: 0, atMs: 0, tenant: 0 } as const;
    for (const action of [renewal, renewal, renewal]) load.act(action);
    while (paths.filter((one) => one === methods.txn.path).length < before + 2) await once(server, 'stream');
    const connection = await GrpcConnection.open({ socket });
    // Answered after the renewals, for the server has one thread.
    await connection.call(methods.range, prefixCount('/registry/pods/'));
    connection[Symbol.dispose]();
    const { othersMs, failed } = recorder.end(performance.now());
    expect(failed).toBe(0);
    expect(othersMs.length).toBeGreaterThan(0);
    expect(paths.filter((one) => one === methods.txn.path)).toHaveLength(before + 2);
  });
});

describe('A connection', () => {
  test('gives the decoded answer', async () => {
    using connection = await GrpcConnection.open({ socket });
    expect(await connection.call(methods.txn, {})).toMatchObject({ succeeded: true, header: { revision: 1 } });
  });

  test('fails when nobody listens', async () => {
    await expect(GrpcConnection.open({ socket: path.join(folder, 'nobody') })).rejects.toThrow(/ENOENT/);
  });
});

test('A count is of all keys that begin with the prefix', () => {
  const request = prefixCount('/registry/pods/');
  expect(request).toEqual({
    ...{ key: Buffer.from('/registry/pods/'), range_end: Buffer.from('/registry/pods0'), count_only: true },
  });
});

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { kinds } from '../../../api/core/kinds.ts';
import type { Manifest } from '../../../api/meta.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import { openHttp2Line } from '../../../runtime/client/http2/http2-line.ts';
import { Http2Sessions } from '../../../runtime/client/http2/http2-sessions.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { probe } from '../../../tenants/probe.ts';
import { freePorts } from '../../../testing/servers/free-ports.ts';
import { clientPair, loopbackPair, serverCa } from '../../../testing/servers/server-certificates.ts';
import { StandInTenant } from './stand-in-tenant.ts';
import type { Asker } from './stand-in-tenant.ts';

const map = (name: string, data: Readonly<Record<string, string>>): Manifest => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', data },
  metadata: { name, namespace: 'kube-system', labels: { part: 'one' } },
});
const fieldManager = 'test';

let ca: KeyPair;
let tenant: StandInTenant;
let connection: Connection;
let client: Cluster;
let asked: Asker[];

beforeEach(async () => {
  ca = await serverCa('kubernetes');
  const [server, admin] = await Promise.all([loopbackPair(ca, 'kube-apiserver'), clientPair(ca, 'admin')]);
  const [port = 0] = await freePorts(1);
  asked = [];
  const files = { certificate: server.certificate, key: server.key, clientCa: ca.certificate };
  tenant = new StandInTenant(files, 'v1.36.3', (by) => asked.push(by));
  await tenant.listen('127.0.0.1', port);
  const [clientCert, clientKey] = [admin.certificate, admin.key];
  connection = { server: `https://127.0.0.1:${port}`, ca: ca.certificate, clientCert, clientKey };
  client = openCluster(connection, { name: 'tenant' });
});

afterEach(async () => {
  await client.close();
  await tenant.pause();
});

describe("The stand-in for a tenant's API server", () => {
  test('keeps what is applied, created, patched and deleted', async () => {
    const created: true[] = [];
    const onCreated = (): void => void created.push(true);
    const first = await client.apply(kinds.ConfigMap, map('a', { x: '1' }), { fieldManager, onCreated });
    const same = await client.apply(kinds.ConfigMap, map('a', { x: '1' }), { fieldManager, onCreated });
    expect(created).toHaveLength(1);
    expect(same.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const key = { namespace: 'kube-system', name: 'a' };
    await client.patch(kinds.ConfigMap, key, { type: 'merge', body: { data: { y: '2' } } });
    expect(await client.get(kinds.ConfigMap, key)).toMatchObject({ data: { x: '1', y: '2' } });
    await expect(client.create(kinds.ConfigMap, map('a', {}))).rejects.toMatchObject({ code: 409 });
    expect(await client.delete(kinds.ConfigMap, key)).toBe(true);
    expect(await client.delete(kinds.ConfigMap, key)).toBe(false);
    expect(await client.get(kinds.ConfigMap, key)).toBeUndefined();
    expect(new Set(asked)).toEqual(new Set(['call']));
  });

  test('lists pages of a selection, with metadata only where that is wanted', async () => {
    for (const name of ['a', 'b', 'c']) await client.apply(kinds.ConfigMap, map(name, { x: '1' }), { fieldManager });
    const options = { namespace: 'kube-system', labelSelector: 'part=one', metadataOnly: true };
    const { items, next } = await client.list(kinds.ConfigMap, { ...options, page: { limit: 2 } });
    expect(items.map(({ metadata, data }) => [metadata.name, data])).toEqual([
      ['a', undefined],
      ['b', undefined],
    ]);
    const rest = await client.list(kinds.ConfigMap, { ...options, page: { limit: 2, from: next } });
    expect(rest.items.map(({ metadata }) => metadata.name)).toEqual(['c']);
    expect((await client.list(kinds.ConfigMap, { labelSelector: 'part=two' })).items).toEqual([]);
  });

  test('reports changes to the watches of an HTTP/2 connection', async () => {
    await client.apply(kinds.ConfigMap, map('a', { x: '1' }), { fieldManager });
    const options = { clock: systemClock, random: () => 0 };
    const line = openHttp2Line(connection, { ...options, sessions: new Http2Sessions(options) });
    const { items, resourceVersion } = await line.list(kinds.ConfigMap, { labelSelector: 'part=one', limit: 10 });
    expect(items).toHaveLength(1);
    const { promise, resolve } = Promise.withResolvers<string>();
    line.watch(
      kinds.ConfigMap,
      { labelSelector: 'part=one', resourceVersion },
      {
        event: (event) => {
          if ('object' in event) resolve(`${event.type} ${event.object.metadata.name}`);
        },
        ended: () => undefined,
      },
    );
    await client.apply(kinds.ConfigMap, map('a', { x: '2' }), { fieldManager });
    expect(await promise).toBe('MODIFIED a');
    expect(tenant.connections).toBe(2);
    line.close();
    expect(asked.filter((by) => by === 'line')).toHaveLength(2);
  });

  test('streams the initial list and its end to a watch that requests it', async () => {
    await client.apply(kinds.ConfigMap, map('a', { x: '1' }), { fieldManager });
    const seen: string[] = [];
    for await (const event of client.watch(kinds.ConfigMap, { signal: new AbortController().signal })) {
      seen.push(event.type);
      if (event.type === 'SYNC') break;
    }
    expect(seen).toEqual(['ADDED', 'SYNC']);
  });

  test('refuses clients without a certificate of the tenant, except probes', async () => {
    const { server } = connection;
    await using stranger = {
      client: openCluster({ server, ca: ca.certificate }, { name: 'tenant' }),
      async [Symbol.asyncDispose]() {
        await this.client.close();
      },
    };
    await expect(stranger.client.list(kinds.ConfigMap)).rejects.toMatchObject({ code: 401 });
    expect((await probe({ server, ca: ca.certificate }, 5000)).isUp).toBe(true);
    expect(asked).toEqual(['call', 'probe']);
  });

  test('keeps idle connections as long as a real server does', async () => {
    const { server } = connection;
    const asked = get(`${server}/readyz`, { ca: ca.certificate, agent: new Agent({ keepAlive: true, maxSockets: 1 }) });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    expect(answer.headers['keep-alive']).toBe('timeout=90');
    asked.destroy();
  });

  test('answers 404 for kinds that Steward does not know', async () => {
    await expect(client.text('/apis/example.com/v1/things')).rejects.toMatchObject({ code: 404 });
  });

  test('keeps its objects while it is paused', async () => {
    await client.apply(kinds.ConfigMap, map('a', { x: '1' }), { fieldManager });
    await tenant.pause();
    await expect(client.list(kinds.ConfigMap)).rejects.toThrow(/not reachable/);
    await tenant.listen('127.0.0.1', Number(new URL(connection.server).port));
    expect((await client.list(kinds.ConfigMap)).items).toHaveLength(1);
  });
});

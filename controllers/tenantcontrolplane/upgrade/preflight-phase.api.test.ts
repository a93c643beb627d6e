import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef } from '../../../api/meta.ts';
import { parseVersion } from '../../../kubeadm/versions.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { openCluster } from '../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import { tenantLimits } from '../../../tenants/pool.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { nodePagePath, parseNodePage } from './node-page.ts';
import { removedApis } from './removed-apis.ts';

let server: ApiServer;
let client: Cluster;

beforeAll(async () => {
  // The newest server has no API of its own accord that a later one drops.
  server = await startApiServer({ flags: { 'runtime-config': 'networking.k8s.io/v1beta1=true' } });
  client = openCluster(parseKubeconfig(server.kubeconfig), tenantLimits);
}, 180_000);

afterAll(async () => {
  await client.close();
  await server.stop();
}, 60_000);

describe('a real API server', () => {
  test('reports in its metrics which deprecated APIs were requested, and when they are removed', async () => {
    const ipAddresses: KindRef = {
      group: 'networking.k8s.io',
      version: 'v1beta1',
      kind: 'IPAddress',
      plural: 'ipaddresses',
      namespaced: false,
    };
    const next = parseVersion('v1.99.0');
    expect(removedApis(await client.text('/metrics'), next)).toEqual([]);
    await client.list(ipAddresses);
    const metrics = await client.text('/metrics');
    expect(metrics.length).toBeLessThan(tenantLimits.maxBodyBytes / 4);
    expect(removedApis(metrics, next)).toEqual(['ipaddresses of networking.k8s.io/v1beta1']);
    expect(removedApis(metrics, parseVersion('v1.36.3'))).toEqual([]);
  });

  test.each([34, 35])(
    'of 1.%d requests no API itself that the next minor removes',
    async (minor) => {
      await using older = await startApiServer({ kubernetes: `1.${minor}` });
      const cluster = openCluster(parseKubeconfig(older.kubeconfig), tenantLimits);
      try {
        await cluster.list(kinds.Node);
        expect(removedApis(await cluster.text('/metrics'), parseVersion(`v1.${minor + 1}.0`))).toEqual([]);
      } finally {
        await cluster.close();
      }
    },
    120_000,
  );

  test('lists its nodes page by page', async () => {
    const names = Array.from({ length: 103 }, (_, index) => `node-${String(index).padStart(3, '0')}`);
    for (const name of names) {
      await client.create(kinds.Node, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      const body = { status: { nodeInfo: { kubeletVersion: 'v1.32.4' } } };
      await client.patch(kinds.Node, { name }, { type: 'merge', body }, { subresource: 'status' });
    }
    const first = parseNodePage(await client.text(nodePagePath(undefined)));
    expect(first?.kubelets).toHaveLength(100);
    const second = parseNodePage(await client.text(nodePagePath(first?.next)));
    expect(second?.next).toBeUndefined();
    const all = [...(first?.kubelets ?? []), ...(second?.kubelets ?? [])];
    expect(all).toEqual(names.map((node) => ({ node, version: 'v1.32.4' })));
  }, 60_000);
});

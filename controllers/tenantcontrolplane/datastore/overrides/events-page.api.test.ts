import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Deployment } from '../../../../api/core/kinds.ts';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { retainedControlPlane } from '../../../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { consoleBlocks } from '../../../../e2e/framework/console-blocks.ts';
import { resolveTools } from '../../../../e2e/tools/resolve.ts';
import type { Cluster } from '../../../../runtime/client/cluster.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { startEtcdDataStore } from '../../../../testing/contracts/stores/etcd/data-store.ts';
import { patient } from '../../../../testing/patient.ts';
import { installKinds } from '../../../../testing/servers/install-kinds.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import { startStoreManager } from '../../../../testing/worlds/store-manager.ts';

const page = join(import.meta.dirname, '../../../../docs/how-to/events-in-another-etcd.md');
const run = promisify(execFile);

/** Reports every Deployment as rolled out, as its controller and the kubelets would, until the signal. */
async function rollOut(cluster: Cluster, signal: AbortSignal): Promise<void> {
  try {
    for await (const event of cluster.watch(kinds.Deployment, { signal })) {
      if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
      const { metadata, spec, status }: Deployment = event.object;
      if (status?.observedGeneration === metadata.generation) continue;
      const count = spec?.replicas ?? 0;
      const counts = { replicas: count, updatedReplicas: count, readyReplicas: count, availableReplicas: count };
      const key = { namespace: metadata.namespace, name: metadata.name };
      const body = { status: { observedGeneration: metadata.generation, ...counts } };
      await cluster.patch(kinds.Deployment, key, { type: 'merge', body }, { subresource: 'status', signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

test('the commands of the how-to page move events of a tenant to another etcd and back', async () => {
  await using server = await startApiServer();
  await using main = await startEtcdDataStore();
  await using events = await startEtcdDataStore();
  const admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  const { kubectl } = await resolveTools(['kubectl']);
  const stop = new AbortController();
  let rolling: Promise<void> | undefined;
  try {
    await installKinds(admin, [dataStore, retainedControlPlane, tenantControlPlane]);
    await admin.create(dataStore, { ...main.dataStore, metadata: { name: 'default' } });
    await admin.create(dataStore, { ...events.dataStore, metadata: { name: 'events' } });
    await using manager = await startStoreManager(admin);
    expect(manager).toBeDefined();
    rolling = rollOut(admin, stop.signal);
    const blocks = [...consoleBlocks(await readFile(page, 'utf8'))];
    const env = {
      ...process.env,
      KUBECONFIG: server.kubeconfigPath,
      PATH: [dirname(kubectl), process.env.PATH ?? ''].join(delimiter),
    };
    const next = async (heading: string): Promise<string> => {
      const block = blocks.shift();
      expect(block?.heading).toBe(heading);
      return (await run('bash', ['-euo', 'pipefail', '-c', block?.commands ?? ''], { env, timeout: patient(90_000) }))
        .stdout;
    };
    const users = (): Promise<string> => events.server.control('user', 'list');

    await next('Keep Events in a separate etcd');
    expect(await next('Configure the override')).toMatch(
      /\[\{"checksum":"\w+","dataStoreName":"events",.*"resource":"\/events"/,
    );
    expect(await users()).toMatch(/^t[a-z2-7]{26}$/m);
    const deployment = await admin.get(kinds.Deployment, { namespace: 'default', name: 'orange' });
    expect(JSON.stringify(deployment)).toContain(
      `--etcd-servers-overrides=/events#${events.server.endpoints[0] ?? ''}`,
    );

    await next('Change the override');
    expect((await users()).trim()).toBe('root');
    expect(blocks).toEqual([]);
  } finally {
    stop.abort();
    await rolling;
    await admin.close();
  }
}, 300_000);

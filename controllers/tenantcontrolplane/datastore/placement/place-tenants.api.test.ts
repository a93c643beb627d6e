import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { dataStore } from '../../../../api/steward/v1alpha1/data-store.ts';
import { retainedControlPlane } from '../../../../api/steward/v1alpha1/retained-control-plane.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { consoleBlocks } from '../../../../e2e/framework/console-blocks.ts';
import { resolveTools } from '../../../../e2e/tools/resolve.ts';
import { openCluster } from '../../../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../../../runtime/client/kubeconfig.ts';
import { startEtcdDataStore } from '../../../../testing/contracts/stores/etcd/data-store.ts';
import { patient } from '../../../../testing/patient.ts';
import { installKinds } from '../../../../testing/servers/install-kinds.ts';
import { startApiServer } from '../../../../testing/servers/api-server.ts';
import { startStoreManager } from '../../../../testing/worlds/store-manager.ts';

const page = join(import.meta.dirname, '../../../../docs/how-to/place-tenants.md');
const run = promisify(execFile);

test('the commands of the how-to page place tenants in their DataStores', async () => {
  await using server = await startApiServer();
  await using etcd = await startEtcdDataStore();
  const admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  const { kubectl } = await resolveTools(['kubectl']);
  try {
    await installKinds(admin, [dataStore, retainedControlPlane, tenantControlPlane]);
    for (const name of ['pool-a', 'pool-b']) {
      await admin.create(dataStore, { ...etcd.dataStore, metadata: { name } });
    }
    await using manager = await startStoreManager(admin);
    expect(manager).toBeDefined();
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
    const ready = ['wait', 'datastore', '--all', '--for=condition=Ready', `--timeout=${Math.ceil(patient(60))}s`];
    await run(kubectl, ready, { env });

    const stores = await next('Label the DataStores and limit their capacity');
    expect(stores).toMatch(/NAME +DRIVER +READY +VERSION +USED +AGE\npool-a +etcd +True +3\.\S+ +0 +\S+\n/);

    const asked = await next('Select a DataStore by labels');
    expect(asked).toMatch(
      /"dataStoreName":"pool-a","reasons":\["pool-a: score 100: holds 0 of 1 tenants .*","pool-b: does not have /,
    );
    expect(asked).toMatch(/Normal +Placed +TenantControlPlane\/blue +DataStore pool-a was chosen: pool-a: score 100/);

    await next('Taint a DataStore');
    const red = await admin.get(tenantControlPlane, { namespace: 'default', name: 'red' });
    expect(red?.status?.storage?.placement?.dataStoreName).toBe('pool-b');

    const waits = await next('If no DataStore fits');
    const words =
      /no DataStore fits: pool-a: is full: it holds 1 of 1 tenants and \S+ \S+ of 8 GiB; pool-b: does not have the labels tier=standard, has the taint team=red:NoPlacement, which is not tolerated\. Change one of them/;
    expect(waits).toMatch(words);
    expect((await readFile(page, 'utf8')).replaceAll('\n', ' ')).toMatch(words);
    await next('If no DataStore fits');
    expect(blocks).toEqual([]);

    const counted = [
      'wait',
      'datastore/pool-b',
      '--for=jsonpath={.status.usedBy[0]}=default/red',
      `--timeout=${Math.ceil(patient(60))}s`,
    ];
    await run(kubectl, counted, { env });
  } finally {
    await admin.close();
  }
}, 300_000);

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { kinds } from '../../api/core/kinds.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { newestMinor } from '../../kubeadm/versions.ts';
import { AdmissionServer } from '../../runtime/admission/admission-server.ts';
import { systemClock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { silent } from '../../runtime/observe/logger.ts';
import { startApiServer } from '../../testing/servers/api-server.ts';
import type { ApiServer } from '../../testing/servers/api-server.ts';
import { shippedWebhooks } from '../../testing/servers/webhooks/shipped-webhooks.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { createAdmissions } from './admissions.ts';

const run = promisify(execFile);
const config = join(import.meta.dirname, '../../config');
const namespace = 'steward-system';
const key = { namespace, name: 'etcd' };
const webhookName = 'vdatastoreservers.kb.io';

describe('The image of the quick-start etcd', () => {
  let server: ApiServer;
  let admin: Cluster;
  let webhooks: AdmissionServer;
  let calls = 0;
  let kubectl: (...words: readonly string[]) => Promise<string>;

  /** What the controller of StatefulSets and the manager would report. */
  const report = async (ready: number, storageVersion: string): Promise<void> => {
    const set = await admin.get(kinds.StatefulSet, key);
    const status = {
      ...{ observedGeneration: set?.metadata.generation, replicas: 3, readyReplicas: ready, updatedReplicas: 3 },
      ...{ currentRevision: 'one', updateRevision: 'one' },
    };
    await admin.patch(kinds.StatefulSet, key, { type: 'merge', body: { status } }, { subresource: 'status' });
    const body = { status: { etcd: { storageVersion } } };
    await admin.patch(dataStore, { name: 'default' }, { type: 'merge', body }, { subresource: 'status' });
  };
  const setImage = (version: string): Promise<string> =>
    kubectl('-n', namespace, 'set', 'image', 'statefulset/etcd', `etcd=registry.k8s.io/etcd:${version}-0`);

  beforeAll(async () => {
    server = await startApiServer();
    admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
    const tools = await resolveTools(['kubectl']);
    kubectl = async (...words) => (await run(tools.kubectl, ['--kubeconfig', server.kubeconfigPath, ...words])).stdout;
    await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await kubectl('apply', '--server-side', '-k', join(config, 'crd'));
    await kubectl('apply', '-k', join(config, 'datastores/etcd-three-members'));
    const handlers = Object.entries(createAdmissions({ cluster: admin, defaultDataStore: '', newestMinor }));
    webhooks = new AdmissionServer({
      ...{ clock: systemClock, log: silent },
      handlers: Object.fromEntries(
        handlers.map(([path, handle]) => [
          path,
          (request, context) => {
            calls += 1;
            return handle(request, context);
          },
        ]),
      ),
    });
    const ca = await serverCa('webhooks');
    const port = await webhooks.listen({ host: '127.0.0.1', port: 0 }, await loopbackPair(ca, 'webhooks'));
    await admin.create(
      kinds.ValidatingWebhookConfiguration,
      await shippedWebhooks([webhookName], { port, authority: ca.certificate }),
    );
    await report(3, '3.6');
    // The API server needs a moment to load a configuration.
    for (let attempt = 0; calls === 0 && attempt < 100; attempt += 1) {
      await setImage('3.6.18');
      await setImage('3.6.16');
      await pause(100);
    }
    expect(calls).toBeGreaterThan(0);
  }, 120_000);

  afterAll(async () => {
    await webhooks.close();
    await admin.close();
    await server.stop();
  });

  test('may be of the next minor version while all members are ready, and not of the one after it', async () => {
    await report(3, '3.6');
    await expect(setImage('3.8.1')).rejects.toThrow(
      /spec\.template\.spec\.containers\[0\]\.image "registry\.k8s\.io\/etcd:3\.8\.1-0" skips 3\.7: .*upgrade to the newest 3\.7 first/,
    );
    await report(2, '3.6');
    await expect(setImage('3.7.3')).rejects.toThrow(/only 2 of 3 members are ready and up to date/);
    await report(3, '3.6');
    expect(await setImage('3.7.3')).toContain('image updated');
  }, 60_000);

  test('may be downgraded until etcd has changed the format of the data, and afterwards once the downgrade is enabled in etcd', async () => {
    expect(await setImage('3.6.16')).toContain('image updated');
    await report(3, '3.6');
    await setImage('3.7.3');
    await report(3, '3.7');
    await expect(setImage('3.6.16')).rejects.toThrow(
      /cannot read the data, whose format is that of 3\.7: run etcdctl downgrade enable 3\.6/,
    );
    await report(3, '3.6');
    expect(await setImage('3.6.16')).toContain('image updated');
  }, 60_000);

  test('is the only thing that is validated, and not where the label was removed', async () => {
    const before = calls;
    await kubectl('-n', namespace, 'rollout', 'restart', 'statefulset/etcd');
    await kubectl('-n', namespace, 'label', 'statefulset/etcd', 'steward.butlerlabs.dev/datastore-');
    expect(await setImage('3.8.1')).toContain('image updated');
    expect(calls).toBe(before);
  }, 60_000);
});

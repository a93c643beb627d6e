import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { allKinds } from '../../api/all-kinds.ts';
import { kinds } from '../../api/core/kinds.ts';
import { runCommand } from '../../e2e/cluster/machines/run-command.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { apiServerUnderTest } from '../servers/api-server-under-test.ts';
import { installKinds } from '../servers/install-kinds.ts';

const folder = join(import.meta.dirname, '../../config/samples');
const files = await readdir(folder);

let kubeconfig: string;
let kubectl: string;

beforeAll(async () => {
  const [server, tools] = await Promise.all([apiServerUnderTest(), resolveTools(['kubectl'])]);
  kubeconfig = server.kubeconfigPath;
  kubectl = tools.kubectl;
  const connection = {
    server: server.url,
    ca: server.ca,
    clientCert: server.adminCertificate,
    clientKey: server.adminKey,
  };
  const cluster = openCluster(connection, { name: 'management' });
  await installKinds(cluster, allKinds);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenants' } };
  await cluster.apply(kinds.Namespace, namespace, { fieldManager: 'samples' });
  await cluster.close();
}, 120_000);

describe('The sample', () => {
  test.each(files)(
    '%s is accepted by a real API server, which knows all its fields',
    async (file) => {
      const created = ['create', '--dry-run=server', '--validate=strict', '-o', 'name'];
      const { stdout } = await runCommand(kubectl, [
        `--kubeconfig=${kubeconfig}`,
        ...created,
        '-f',
        join(folder, file),
      ]);
      expect(stdout.trim()).not.toBe('');
    },
    30_000,
  );
});

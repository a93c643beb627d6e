import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { capiCluster } from '../../../api/cluster-api/kinds.ts';
import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlaneSpec } from '../../../api/controlplane/steward-control-plane-spec.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { kinds } from '../../../api/core/kinds.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { readFeatureGates } from '../../../cmd/flags/feature-gates.ts';
import { consoleBlocks } from '../../../e2e/framework/console-blocks.ts';
import { resolveTools } from '../../../e2e/tools/resolve.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { isTrue } from '../../../runtime/reconcile/conditions.ts';
import { patient } from '../../../testing/patient.ts';
import { adminOf, once, startExternalManagement } from '../../../testing/worlds/external-management.ts';
import { externalCluster, externalControlPlane, externalKey } from '../../../testing/builders/external-objects.ts';
import { installKinds } from '../../../testing/servers/install-kinds.ts';
import type { ApiServer } from '../../../testing/servers/api-server.ts';
import { startApiServer } from '../../../testing/servers/api-server.ts';
import { serverFolder } from '../../../testing/servers/server-folder.ts';
import { serviceAccountToken } from '../../../testing/servers/service-account-token.ts';

const root = join(import.meta.dirname, '../../..');
const page = join(root, 'docs', 'how-to', 'host-on-another-cluster.md');
const run = promisify(execFile);

/** One kubeconfig with a context for each server. */
const contextsOf = (servers: Readonly<Record<string, ApiServer>>): string => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const all = Object.entries(servers);
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    contexts: all.map(([name]) => ({ name, context: { cluster: name, user: name } })),
    clusters: all.map(([name, { url, ca }]) => ({
      name,
      cluster: { server: url, 'certificate-authority-data': base64(ca) },
    })),
    users: all.map(([name, { adminCertificate, adminKey }]) => ({
      name,
      user: { 'client-certificate-data': base64(adminCertificate), 'client-key-data': base64(adminKey) },
    })),
  });
};

/** What kube-controller-manager, which does not run here, does for a Secret with the token of a service account. */
async function fillToken(there: Cluster, hosting: ApiServer): Promise<void> {
  const key = { namespace: 'steward-access', name: 'management' };
  await once(there, kinds.Secret, { key, is: (secret) => secret !== undefined });
  const body = { stringData: { token: await serviceAccountToken(hosting, key), 'ca.crt': hosting.ca } };
  await there.patch(kinds.Secret, key, { type: 'merge', body });
}

test('a control plane is hosted on another cluster, and given up, by the commands of the how-to page', async () => {
  await using hosting = await startApiServer();
  await using server = await startApiServer();
  await using folder = await serverFolder();
  const there = adminOf(hosting);
  const { kubectl } = await resolveTools(['kubectl']);
  try {
    await installKinds(there, [tenantControlPlane]);
    await using management = await startExternalManagement(server);
    const { admin } = management;
    const kubeconfig = join(folder.path, 'contexts.yaml');
    await writeFile(kubeconfig, contextsOf({ hosting, management: server }), { mode: 0o600 });
    const env = {
      ...process.env,
      KUBECONFIG: kubeconfig,
      PATH: [dirname(kubectl), process.env.PATH ?? ''].join(delimiter),
    };
    const manager = join(root, 'config', 'manager', 'manager.yaml');
    await run(kubectl, ['--context', 'management', 'apply', '-f', manager], { env });
    const markdown = await readFile(page, 'utf8');
    const blocks = [...consoleBlocks(markdown)];
    const next = async (heading: string): Promise<void> => {
      const block = blocks.shift();
      expect(block?.heading).toBe(heading);
      const words = [
        '-euo',
        'pipefail',
        '-c',
        (block?.commands ?? '').replaceAll('config/hosting', `${root}/config/hosting`),
      ];
      await run('bash', words, { env, cwd: folder.path, timeout: patient(90_000) });
    };

    await next('Create a namespace and a user in the hosting cluster');
    await Promise.all([fillToken(there, hosting), next('Create the kubeconfig')]);
    await next('Enable the feature gate and reference the hosting cluster');
    const key = { namespace: 'steward-system', name: 'steward-controller-manager' };
    const deployment: Deployment | undefined = await admin.get(kinds.Deployment, key);
    const variables = deployment?.spec?.template.spec?.containers[0]?.env ?? [];
    const gates = variables.find(({ name }) => name === 'STEWARD_FEATURE_GATES')?.value;
    expect(readFeatureGates(gates ?? '')).toMatchObject({ externalClusterReference: true });

    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(markdown) ?? [];
    const { spec } = parse(yaml) as { readonly spec: Pick<StewardControlPlaneSpec, 'deployment'> };
    const options = { fieldManager: 'test' };
    await admin.apply(capiCluster, externalCluster(), options);
    const { externalClusterReference } = spec.deployment ?? {};
    await admin.apply(stewardControlPlane, externalControlPlane({}, externalClusterReference), options);
    await once(admin, stewardControlPlane, {
      key: externalKey,
      is: (scp) => isTrue(scp?.status?.conditions, 'TenantControlPlaneCreated'),
    });
    expect((await there.list(tenantControlPlane, { namespace: 'hosted' })).items).toHaveLength(1);

    await hosting.kill();
    await admin.delete(stewardControlPlane, externalKey);
    await once(admin, stewardControlPlane, {
      key: externalKey,
      is: (scp) => isTrue(scp?.status?.conditions, 'Deleting'),
    });
    await next('When something is wrong');
    await once(admin, stewardControlPlane, { key: externalKey, is: (scp) => scp === undefined });
    expect(blocks).toEqual([]);
  } finally {
    await there.close();
  }
}, 300_000);

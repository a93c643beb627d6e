import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { allKinds } from '../../api/all-kinds.ts';
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
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { loopbackPair, serverCa } from '../../testing/servers/server-certificates.ts';
import { shippedWebhooks } from '../../testing/servers/webhooks/shipped-webhooks.ts';
import { createAdmissions } from './admissions.ts';

const run = promisify(execFile);
const group = 'steward.butlerlabs.dev';
const apiVersion = `${group}/v1alpha1`;
const namespace = 'team';

let server: ApiServer;
let admin: Cluster;
let webhooks: AdmissionServer;
let folder: string;
let kubectl: (...words: readonly string[]) => Promise<string>;

/** Creates an object as kubectl does, in a dry run, for a user or for the administrator; the output, warnings included. */
async function tried(object: object, user?: string): Promise<string> {
  const file = join(folder, 'object.json');
  await writeFile(file, JSON.stringify(object));
  return kubectl('create', '--dry-run=server', '-f', file, ...(user === undefined ? [] : ['--as', user]));
}

const pool = (spec: object = {}, name = 'small'): object => ({
  ...{ apiVersion, kind: 'ControlPlanePool', metadata: { name, namespace } },
  spec: {
    template: {
      spec: { controlPlane: { service: { serviceType: 'ClusterIP' } }, kubernetes: { version: 'v1.36.3' }, ...spec },
    },
  },
});
const claim = {
  apiVersion,
  kind: 'ControlPlaneClaim',
  metadata: { name: 'build', namespace },
  spec: { pool: 'small' },
};

/** Lets a user do something; the API server needs a moment to notice. */
async function grant(user: string, name: string, rules: readonly object[]): Promise<void> {
  const rbac = 'rbac.authorization.k8s.io';
  const file = join(folder, 'role.json');
  const role = { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name, namespace }, rules };
  const subjects = [{ apiGroup: rbac, kind: 'User', name: user }];
  const roleRef = { apiGroup: rbac, kind: 'Role', name };
  const binding = { apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name, namespace }, subjects, roleRef };
  await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [role, binding] }));
  await kubectl('create', '-f', file);
}

/** The answer to a claim of a user, once it is not `other` anymore. */
async function answerTo(user: string, other: RegExp): Promise<string> {
  let answer = '';
  for (let attempt = 0; attempt < 100; attempt += 1) {
    answer = await tried(claim, user).catch((error: unknown) => String(error));
    if (!other.test(answer)) return answer;
    await pause(100);
  }
  return answer;
}

beforeAll(async () => {
  server = await startApiServer();
  folder = await mkdtemp(join(tmpdir(), 'pool-webhooks-'));
  admin = openCluster(parseKubeconfig(server.kubeconfig), { name: 'management' });
  const tools = await resolveTools(['kubectl']);
  kubectl = async (...words) => {
    const { stdout, stderr } = await run(tools.kubectl, ['--kubeconfig', server.kubeconfigPath, ...words]);
    return `${stdout}${stderr}`;
  };
  await installKinds(admin, allKinds);
  await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const pair = { certificate: { content: 'eA==' }, privateKey: { content: 'eA==' } };
  const tlsConfig = { certificateAuthority: pair, clientCertificate: pair };
  const spec = { driver: 'etcd', endpoints: ['etcd:2379'], tlsConfig };
  await admin.create(dataStore, { apiVersion, kind: 'DataStore', metadata: { name: 'default' }, spec });
  const handlers = createAdmissions({ cluster: admin, defaultDataStore: 'default', newestMinor });
  webhooks = new AdmissionServer({ clock: systemClock, log: silent, handlers });
  const ca = await serverCa('webhooks');
  const port = await webhooks.listen({ host: '127.0.0.1', port: 0 }, await loopbackPair(ca, 'webhooks'));
  const names = ['vcontrolplanepool.kb.io', 'vcontrolplaneclaim.kb.io'];
  const configuration = await shippedWebhooks(names, { port, authority: ca.certificate });
  await admin.create(kinds.ValidatingWebhookConfiguration, configuration);
  // The API server needs a moment to load a configuration.
  for (let attempt = 0; attempt < 100; attempt += 1) {
    if ((await tried(claim)).includes('Warning')) return;
    await pause(100);
  }
  throw new Error('the webhooks are not called');
}, 120_000);

afterAll(async () => {
  await webhooks.close();
  await admin.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

describe('A pool', () => {
  test('is admitted, and refused for what its control planes would be refused for', async () => {
    expect(await tried(pool())).toMatch(/controlplanepool\S* created/);
    await expect(tried(pool({ dataStore: 'nowhere' }))).rejects.toThrow(/spec\.template\.spec\.dataStore "nowhere"/);
    await expect(tried(pool({ kubernetes: { version: 'v1.99.0' } }))).rejects.toThrow(
      /spec\.template\.spec\.kubernetes\.version "v1\.99\.0"/,
    );
  }, 60_000);
});

describe('A claim', () => {
  const claims = { apiGroups: [group], resources: ['controlplaneclaims'], verbs: ['create'] };

  test('is not admitted for a user who may create claims, but neither claim from this pool nor create control planes', async () => {
    const other = { apiGroups: [group], resources: ['controlplanepools'], resourceNames: ['large'], verbs: ['claim'] };
    await grant('jane', 'other', [claims, other]);
    expect(await answerTo('jane', /cannot create resource/)).toMatch(
      /vcontrolplaneclaim\.kb\.io.* denied the request: spec\.pool "small" is a pool from which jane may not claim/,
    );
  }, 60_000);

  test.each([
    ['claim from this pool', 'ci', { resources: ['controlplanepools'], resourceNames: ['small'], verbs: ['claim'] }],
    ['create control planes', 'dev', { resources: ['tenantcontrolplanes'], verbs: ['create'] }],
  ])(
    'is admitted for a user who may %s',
    async (_, user, right) => {
      await grant(user, `rights-of-${user}`, [claims, { apiGroups: [group], ...right }]);
      const answer = await answerTo(user, /cannot create resource|may not claim/);
      expect(answer).toMatch(/controlplaneclaim\S* created/);
      expect(answer).toContain('ControlPlanePool small does not exist in this namespace: the claim waits');
    },
    60_000,
  );
});

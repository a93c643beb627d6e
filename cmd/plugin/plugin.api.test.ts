import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../api/core/kinds.ts';
import { stewardControlPlane } from '../../api/controlplane/steward-control-plane.ts';
import type { KindRef, Resource } from '../../api/meta.ts';
import { dataStore } from '../../api/steward/v1alpha1/data-store.ts';
import { tenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { Cluster } from '../../runtime/client/cluster.ts';
import { openCluster } from '../../runtime/client/http-cluster.ts';
import { parseKubeconfig } from '../../runtime/client/kubeconfig.ts';
import { patient } from '../../testing/patient.ts';
import { startSigner } from '../../testing/servers/garbage-collector.ts';
import { resolveTools } from '../../e2e/tools/resolve.ts';
import { installKinds } from '../../testing/servers/install-kinds.ts';
import { apiServerUnderTest } from '../../testing/servers/api-server-under-test.ts';
import type { ApiServerAccess } from '../../testing/servers/api-server.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const namespace = 'plugin-tenants';
const key = { namespace, name: 'shop' };

const selfSubjectReview: KindRef<Resource & { readonly status?: unknown }> = {
  group: 'authentication.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  namespaced: false,
};

let server: ApiServerAccess;
let kubeconfig: string;
let admin: Cluster;
let folder: string;

beforeAll(async () => {
  server = await apiServerUnderTest();
  kubeconfig = await readFile(server.kubeconfigPath, 'utf8');
  admin = openCluster(parseKubeconfig(kubeconfig), { name: 'management' });
  folder = await mkdtemp(join(tmpdir(), 'steward-plugin-'));
  await installKinds(admin, [dataStore, tenantControlPlane, stewardControlPlane]);
  await admin.create(kinds.Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
}, 300_000);

afterAll(async () => {
  await admin.close();
  await rm(folder, { recursive: true, force: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the program as kubectl would, as a process of its own. */
const plugin = (...args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { ...process.env, KUBECONFIG: server.kubeconfigPath };
    const program = join(root, 'cmd/kubectl-steward.ts');
    execFile(process.execPath, [program, ...args], { env, timeout: patient(120_000) }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });

const shop = () => admin.get(tenantControlPlane, key);

describe('kubectl steward, against an API server', () => {
  test('creates, lists, upgrades, sleeps and wakes a control plane', async () => {
    const created = await plugin('create', 'shop', '-n', namespace, '--kubernetes-version=v1.35.4', '--wait=false');
    expect(created).toEqual({ code: 0, out: 'tenantcontrolplane.steward.butlerlabs.dev/shop\n', err: '' });
    // Flux takes back what any kubectl has set, by this beginning of the name.
    expect((await shop())?.metadata.managedFields).toEqual([expect.objectContaining({ manager: 'steward-plugin' })]);
    const listed = await plugin('get', '-A', '-o', 'wide');
    expect(listed.out).toMatch(
      /NAMESPACE +NAME [^]*\nplugin-tenants +shop +\(v1\.35\.4\) +0\/2 +<none> +<none> +Unknown +NotReported +\d+s /,
    );
    expect((await plugin('upgrade', 'shop', 'v1.36.3', '-n', namespace, '--wait=false')).code).toBe(0);
    expect((await shop())?.spec.kubernetes.version).toBe('v1.36.3');
    expect((await plugin('sleep', 'shop', '-n', namespace, '--wait=false')).code).toBe(0);
    expect((await shop())?.spec.controlPlane.deployment.replicas).toBe(0);
    expect((await plugin('wake', 'shop', '-n', namespace, '--wait=false')).code).toBe(0);
    expect((await shop())?.spec.controlPlane.deployment.replicas).toBe(2);
  }, 300_000);

  test('waits for a change by a watch, and ends when time is up', async () => {
    const seconds = Math.ceil(patient(8));
    const { code, err } = await plugin('upgrade', 'shop', 'v1.36.3', '-n', namespace, `--timeout=${seconds}s`);
    expect(err).toMatch(/shop: the manager has not seen the change yet\nkubectl steward: .*last seen: the manager/);
    expect(err).toContain(`kubectl steward: not done within ${seconds} s; `);
    expect(code).toBe(3);
  }, 300_000);

  test('prints what the API server refuses in one line', async () => {
    const refused = await plugin('create', 'Bad_Name', '-n', namespace, '--kubernetes-version=v1.36.3', '--wait=false');
    expect(refused.err).toMatch(/^kubectl steward: [^\n]*Invalid value: "Bad_Name"[^\n]*\n$/);
    expect(refused.code).toBe(1);
    const again = await plugin('create', 'shop', '-n', namespace, '--kubernetes-version=v1.36.3', '--wait=false');
    expect(again.err).toMatch(/^kubectl steward: .*"shop" already exists; run the command again\n$/);
    expect(again.code).toBe(1);
  }, 300_000);

  test('gets a certificate that the API server accepts for the requested user and groups', async () => {
    // The same server plays the tenant.
    await admin.create(kinds.Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'shop-admin-kubeconfig', namespace },
      data: { 'admin.conf': Buffer.from(kubeconfig).toString('base64') },
    });
    const signer = await startSigner(server, folder);
    const file = join(folder, 'config');
    const asked = ['--user=ada', '--group=readers,auditors', '--kubeconfig-file', file];
    const { code, err } = await plugin('kubeconfig', 'shop', '-n', namespace, ...asked);
    await signer.kill();
    expect(err).toMatch(
      /^added context plugin-tenants-shop to .*config, valid until (.*)\nuse it with: kubectl --context plugin-tenants-shop get nodes\n$/,
    );
    expect(code).toBe(0);
    const [, until = ''] = /valid until (\S+)/.exec(err) ?? [];
    const minutes = (Date.parse(until) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(50);
    expect(minutes).toBeLessThanOrEqual(60);
    const ada = openCluster(parseKubeconfig(await readFile(file, 'utf8')), { name: 'tenant' });
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: { name: '' } };
    const { status } = await ada.create<Resource & { readonly status?: unknown }>(selfSubjectReview, review);
    await ada.close();
    expect(status).toMatchObject({
      userInfo: { username: 'ada', groups: ['readers', 'auditors', 'system:authenticated'] },
    });
    const [request] = (await admin.list(kinds.CertificateSigningRequest)).items;
    expect(request?.spec).toMatchObject({ username: 'kubernetes-admin', expirationSeconds: 3600 });
    expect(request?.status?.conditions).toMatchObject([{ type: 'Approved', status: 'True' }]);
  }, 300_000);

  test('makes a bootstrap token that the API server accepts', async () => {
    const status = {
      conditions: [
        {
          type: 'TenantConfigured',
          status: 'True',
          reason: 'Succeeded',
          message: '',
          lastTransitionTime: '2026-11-26T10:00:00Z',
        },
      ],
    };
    await admin.patch(tenantControlPlane, key, { type: 'merge', body: { status } }, { subresource: 'status' });
    const { code, out } = await plugin('join', 'shop', '-n', namespace);
    expect(code).toBe(0);
    const [, id = ''] =
      /^kubeadm join 127\.0\.0\.1:\d+ --token ([a-z0-9]{6})\.[a-z0-9]{16} --discovery-token-ca-cert-hash sha256:[0-9a-f]{64}\n$/.exec(
        out,
      ) ?? [];
    const secret = await admin.get(kinds.Secret, { namespace: 'kube-system', name: `bootstrap-token-${id}` });
    expect(secret?.type).toBe('bootstrap.kubernetes.io/token');
  }, 300_000);

  test('writes a support bundle', async () => {
    const file = join(folder, 'bundle.tar.gz');
    const { code, out, err } = await plugin('support-bundle', '-n', namespace, '-f', file);
    expect({ code, out }).toEqual({ code: 0, out: `${file}\n` });
    expect(err).toMatch(/collecting plugin-tenants\/shop \(1 of 1\)/);
    expect(err).not.toMatch(
      /missing: (?!kubeconfiggenerators|retainedcontrolplanes|controlplanepools|controlplaneclaims)/,
    );
  }, 300_000);

  test('is what kubectl starts and completes', async () => {
    const { kubectl } = await resolveTools(['kubectl']);
    const built = join(folder, 'plugin');
    await run(process.execPath, [join(root, 'cmd/build-plugin.ts'), built, '0.17.9']);
    const PATH = [built, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
    const env = { ...process.env, PATH, KUBECONFIG: server.kubeconfigPath };
    const listed = await run(kubectl, ['steward', 'get', 'shop', '-n', namespace, '-o', 'name'], { env });
    expect(listed.stdout).toBe('tenantcontrolplane.steward.butlerlabs.dev/shop\n');
    const completed = await run(kubectl, ['__complete', 'steward', 'wake', '-n', namespace, 's'], { env });
    expect(completed.stdout).toMatch(/^shop\b.*\n:4\n/);
  }, 300_000);

  test('is in the binary, as a command and under the name of the plugin', async () => {
    const binary = join(root, 'cmd/steward.ts');
    const link = join(folder, 'kubectl-steward.ts');
    await symlink(binary, link);
    const calls = [[binary, 'kubectl'], [link]];
    for (const call of calls) {
      const env = { ...process.env, KUBECONFIG: server.kubeconfigPath };
      const { stdout } = await run(process.execPath, [...call, 'get', 'shop', '-n', namespace, '-o', 'name'], { env });
      expect(stdout).toBe('tenantcontrolplane.steward.butlerlabs.dev/shop\n');
    }
  }, 300_000);

  test('completes names from the cluster', async () => {
    expect((await plugin('__complete', 'wake', '-n', namespace, 's')).out).toBe('shop\t\n:4\n');
  }, 300_000);

  test('takes credentials from a program', async () => {
    const config = JSON.parse(JSON.stringify(await withExec())) as object;
    const path = join(folder, 'exec.json');
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    expect(await plugin('get', '--kubeconfig', path, '-n', namespace, '-o', 'name')).toEqual({
      code: 0,
      out: 'tenantcontrolplane.steward.butlerlabs.dev/shop\n',
      err: 'from the program\n',
    });
  }, 300_000);
});

/** The administrator's kubeconfig, but with a program that prints the certificate and complains on the standard error. */
async function withExec(): Promise<object> {
  const program = join(folder, 'login.sh');
  const status = { clientCertificateData: server.adminCertificate, clientKeyData: server.adminKey };
  const answer = JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });
  await writeFile(join(folder, 'answer.json'), answer, { mode: 0o600 });
  await writeFile(program, `#!/bin/sh\necho from the program >&2\ncat ${join(folder, 'answer.json')}\n`, {
    mode: 0o700,
  });
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: program, interactiveMode: 'Never' };
  return {
    'current-context': 'x',
    clusters: [
      {
        name: 'x',
        cluster: { server: server.url, 'certificate-authority-data': Buffer.from(server.ca).toString('base64') },
      },
    ],
    users: [{ name: 'x', user: { exec } }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x' } }],
  };
}

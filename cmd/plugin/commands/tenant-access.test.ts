import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { kinds } from '../../../api/core/kinds.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { kubeconfig } from '../../../kubeadm/kubeconfig.ts';
import { readKubeconfig } from '../../../api/kubeconfig.ts';
import { issue, issueCa } from '../../../kubeadm/pki/issue.ts';
import { caCertHashes } from '../../../kubeadm/pki/certificate-chain.ts';
import type { KeyPair } from '../../../kubeadm/pki/key-pair.ts';
import { authorityProfiles, clientProfiles } from '../../../kubeadm/pki/profiles.ts';
import { conditionOf, shopTenant } from '../../../testing/builders/plugin-control-planes.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';
import type { PluginWorldOptions } from '../../../testing/worlds/plugin-world.ts';

let ca: KeyPair;
let admin: KeyPair;

beforeAll(async () => {
  const lifetime = { notBefore: new Date('2026-11-25T00:00:00Z'), notAfter: new Date('2036-11-25T00:00:00Z') };
  ca = await issueCa(authorityProfiles.ca, { algorithm: 'ECDSA-P256', lifetime });
  admin = await issue(clientProfiles['admin.conf'].profile, ca, { algorithm: 'ECDSA-P256', lifetime });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** A control plane with its administrator's kubeconfig. */
async function withKubeconfig(options?: PluginWorldOptions): Promise<PluginWorld> {
  const world = await PluginWorld.create(options);
  await world.management.seed(tenantControlPlane, shopTenant());
  const of = (server: string): string =>
    base64(kubeconfig({ clusterName: 'shop', server, ca: ca.certificate, user: 'kubernetes-admin', client: admin }));
  await world.management.seed(kinds.Secret, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'shop-admin-kubeconfig', namespace: 'tenants' },
    data: { 'admin.conf': of('https://shop.example.com:6443'), 'admin.svc': of('https://shop.tenants.svc:6443') },
  });
  return world;
}

/** What kube-controller-manager does with an approved request; the certificate is that of another key, which no test looks at. */
function signs(world: PluginWorld, status: Readonly<Record<string, unknown>>): void {
  world.tenant.after(async ({ subresource, name = '' }) => {
    if (subresource !== 'approval') return;
    const patch = { type: 'merge', body: { status } } as const;
    await world.tenant.admin.patch(kinds.CertificateSigningRequest, { name }, patch, { subresource: 'status' });
  });
}

describe('kubeconfig', () => {
  test('adds a context with a certificate that the API of the tenant issued for an hour', async () => {
    await using world = await withKubeconfig();
    signs(world, { certificate: base64(admin.certificate) });
    const { code, notes, out } = await world.run('kubeconfig shop --user ada --group readers --group auditors');
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(notes).toEqual([
      `added context tenants-shop to ${world.folder}/config, valid until 2036-11-25T00:00:00.000Z`,
      'use it with: kubectl --context tenants-shop get nodes',
    ]);
    const file = join(world.folder, 'config');
    const text = await readFile(file, 'utf8');
    expect((parse(text) as Record<string, unknown>)['current-context']).toBe('test');
    const { access } = readKubeconfig(text, { context: 'tenants-shop' });
    expect(access).toMatchObject({ server: 'https://shop.example.com:6443', ca: ca.certificate });
    expect(access.clientKey).not.toBe(admin.key);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const [request] = (await world.tenant.admin.list(kinds.CertificateSigningRequest)).items;
    expect(request?.spec).toMatchObject({
      signerName: 'kubernetes.io/kube-apiserver-client',
      expirationSeconds: 3600,
      usages: ['client auth'],
    });
    expect(world.connections.map(([name, { server }]) => [name, server])).toEqual([
      ['management', 'https://management.test'],
      ['tenant', 'https://shop.example.com:6443'],
    ]);
  });

  test('prints a kubeconfig, and changes no file, with --kubeconfig-file -', async () => {
    await using world = await withKubeconfig();
    const before = await readFile(join(world.folder, 'config'), 'utf8');
    const { out } = await world.run('kubeconfig shop --long-lived --internal --kubeconfig-file - --context-name x');
    expect(readKubeconfig(out)).toMatchObject({ cluster: 'x', access: { server: 'https://shop.tenants.svc:6443' } });
    expect(readKubeconfig(out).access.clientKey).toBe(admin.key);
    expect(await readFile(join(world.folder, 'config'), 'utf8')).toBe(before);
    expect(world.connections).toHaveLength(1);
  });

  test.each([
    ['', ''],
    ['--use', 'tenants-shop'],
  ])('changes the current context of all files of $KUBECONFIG only on request: %j', async (flags, expected) => {
    await using first = await withKubeconfig();
    const [absent, config] = [join(first.folder, 'new'), join(first.folder, 'config')];
    const environment = { KUBECONFIG: [absent, config].join(delimiter) };
    await using world = await withKubeconfig({ environment });
    expect((await world.run(`kubeconfig shop --long-lived ${flags}`)).code).toBe(0);
    const read = parse(await readFile(absent, 'utf8')) as Readonly<Record<string, unknown>>;
    expect(read['current-context'] ?? '').toBe(expected);
    expect(read.contexts).toMatchObject([{ name: 'tenants-shop' }]);
  });

  describe('in a later file of $KUBECONFIG', () => {
    const filesWith = async (server: string) => {
      const first = await withKubeconfig();
      const [own, later] = [join(first.folder, 'config'), join(first.folder, 'later')];
      const name = 'tenants-shop';
      const cluster = { name, cluster: { server } };
      const user = { name, user: { token: 'old' } };
      const context = { name, context: { cluster: name, user: name } };
      await writeFile(later, JSON.stringify({ clusters: [cluster], users: [user], contexts: [context] }));
      const world = await withKubeconfig({ environment: { KUBECONFIG: [own, later].join(delimiter) } });
      const texts = () => Promise.all([own, later].map((path) => readFile(path, 'utf8')));
      const dispose = async (): Promise<void> => {
        await world[Symbol.asyncDispose]();
        await first[Symbol.asyncDispose]();
      };
      return { world, texts, later, [Symbol.asyncDispose]: dispose };
    };

    test('an entry of another cluster with the same name is not hidden', async () => {
      await using files = await filesWith('https://other.example.com');
      const { world, texts } = files;
      const before = await texts();
      const { code, notes } = await world.run('kubeconfig shop --long-lived');
      expect(notes.join()).toMatch(/already has a cluster "tenants-shop" at https:\/\/other\.example\.com/);
      expect(code).toBe(1);
      expect(await texts()).toEqual(before);
    });

    test.each([
      ['of the same cluster', 'https://shop.example.com:6443', ''],
      ['that is to be replaced', 'https://other.example.com', '--overwrite'],
    ])('an entry %s is changed there', async (_, server, flags) => {
      await using files = await filesWith(server);
      const { world, texts, later } = files;
      const [own] = await texts();
      const { code, notes } = await world.run(`kubeconfig shop --long-lived ${flags}`);
      expect({ code, note: notes[0] }).toEqual({ code: 0, note: expect.stringContaining(later) });
      const [ownAfter, laterAfter = ''] = await texts();
      expect(ownAfter).toBe(own);
      expect(readKubeconfig(laterAfter, { context: 'tenants-shop' }).access.clientKey).toBe(admin.key);
    });
  });

  test('says why the tenant refused the request', async () => {
    await using world = await withKubeconfig();
    signs(world, { conditions: [{ type: 'Failed', status: 'True', message: 'no signing key' }] });
    const { code, notes } = await world.run('kubeconfig shop');
    expect(notes).toEqual([
      expect.stringMatching(
        /^kubectl steward: the tenant refused CertificateSigningRequest kubectl-steward-[0-9a-f]{16}: no signing key$/,
      ),
    ]);
    expect(code).toBe(1);
  });

  test('writes nothing if the response of the tenant has no certificate', async () => {
    await using world = await withKubeconfig();
    const before = await readFile(join(world.folder, 'config'), 'utf8');
    signs(world, { certificate: base64('users: [{ name: other }]') });
    const { code, notes } = await world.run('kubeconfig shop');
    expect(notes.join()).toMatch(/the tenant answered CertificateSigningRequest \S+ with no certificate$/);
    expect(code).toBe(1);
    expect(await readFile(join(world.folder, 'config'), 'utf8')).toBe(before);
  });

  test('says what a control plane without a kubeconfig waits for', async () => {
    await using world = await PluginWorld.create();
    const message = 'waiting for the endpoint';
    const conditions = [conditionOf('KubeconfigsReady', 'False', 'Blocked', { message })];
    await world.management.seed(tenantControlPlane, shopTenant({ status: { conditions } }));
    const { code, notes } = await world.run('kubeconfig shop');
    expect(notes).toEqual([
      `kubectl steward: control plane shop has no kubeconfig yet (Secret tenants/shop-admin-kubeconfig): Blocked: ${message}`,
    ]);
    expect(code).toBe(3);
  });

  test('waits for no other program that writes the same file', async () => {
    await using world = await withKubeconfig();
    await mkdir(join(world.folder, 'kube'));
    await writeFile(join(world.folder, 'kube', 'config.lock'), '');
    const { code, notes } = await world.run(
      `kubeconfig shop --long-lived --kubeconfig-file ${world.folder}/kube/config`,
    );
    expect(notes.join()).toMatch(/is being written by another program; if none runs, delete .*config\.lock$/);
    expect(code).toBe(1);
  });

  test.each([
    ['--group system:masters', /--group system:masters is never issued/],
    ['--duration 5m', /--duration must be 10m or more/],
    ['--duration soon', /"soon" is not a duration/],
    ['--long-lived --user ada', /leave out --user and --group/],
  ])('refuses %s before it connects', async (flags, message) => {
    await using world = await withKubeconfig();
    const { code, notes } = await world.run(`kubeconfig shop ${flags}`);
    expect(notes.join()).toMatch(message);
    expect({ code, connections: world.connections }).toEqual({ code: 2, connections: [] });
  });
});

describe('join', () => {
  const hash = (): string => caCertHashes(ca.certificate)[0] ?? '';

  test('creates a token in the tenant and prints the command that uses it', async () => {
    await using world = await withKubeconfig();
    const { code, out, notes } = await world.run('join shop --ttl 2h');
    expect(code).toBe(0);
    const [, token = ''] = /--token (\S+)/.exec(out) ?? [];
    expect(out).toBe(`kubeadm join shop.example.com:6443 --token ${token} --discovery-token-ca-cert-hash ${hash()}\n`);
    const [secret] = (await world.tenant.admin.list(kinds.Secret)).items;
    const data = Object.fromEntries(
      Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
    );
    expect(secret?.metadata).toMatchObject({ namespace: 'kube-system', name: `bootstrap-token-${token.slice(0, 6)}` });
    expect(`${data['token-id']}.${data['token-secret']}`).toBe(token);
    const hours = (Date.parse(data.expiration ?? '') - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(1.9);
    expect(hours).toBeLessThanOrEqual(2);
    expect(notes.join()).toMatch(
      /^the token is valid until .*; the worker needs kubeadm and kubelet 1\.35 or up to three minors older$/,
    );
  });

  test('prints user data for cloud-init, which keeps the token in a file of root', async () => {
    await using world = await withKubeconfig();
    const { out } = await world.run('join shop -o cloud-init');
    expect(out).toMatch(/^#cloud-config\n/);
    const data = parse(out) as {
      write_files: { content: string; path: string; permissions: string }[];
      runcmd: string[];
    };
    const [file] = data.write_files;
    expect(file).toMatchObject({ path: '/run/kubeadm/join.yaml', permissions: '0600' });
    expect(parse(file?.content ?? '')).toMatchObject({
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'JoinConfiguration',
      discovery: { bootstrapToken: { apiServerEndpoint: 'shop.example.com:6443', caCertHashes: [hash()] } },
    });
    expect(data.runcmd).toEqual(['kubeadm join --config /run/kubeadm/join.yaml && rm -f /run/kubeadm/join.yaml']);
  });

  test('prints JSON for programs', async () => {
    await using world = await withKubeconfig();
    expect(JSON.parse((await world.run('join shop -o json')).out)).toMatchObject({
      endpoint: 'shop.example.com:6443',
      caCertHashes: [hash()],
    });
  });

  test('creates no token before workers can join', async () => {
    await using world = await PluginWorld.create();
    const conditions = [conditionOf('TenantConfigured', 'False', 'Sleeping')];
    await world.management.seed(tenantControlPlane, shopTenant({ status: { conditions } }));
    const { code, notes } = await world.run('join shop');
    expect({ code, notes }).toEqual({ code: 3, notes: ['kubectl steward: workers cannot join shop yet: Sleeping'] });
    expect(world.connections).toHaveLength(1);
  });
});

test('a certificate request names the user and the groups, and is signed by its own key', async () => {
  const { certificateRequest } = await import('../kubeconfig/request-certificate.ts');
  const { Pkcs10CertificateRequest } = await import('@peculiar/x509');
  const { key, request } = await certificateRequest({ user: 'ada+l, "x"', groups: ['a=b', 'c'] });
  const read = new Pkcs10CertificateRequest(request);
  expect(read.subjectName.toJSON()).toEqual([{ O: ['a=b'] }, { O: ['c'] }, { CN: ['ada+l, "x"'] }]);
  expect(await read.verify()).toBe(true);
  expect(key).toMatch(/^-----BEGIN EC PRIVATE KEY-----/);
});

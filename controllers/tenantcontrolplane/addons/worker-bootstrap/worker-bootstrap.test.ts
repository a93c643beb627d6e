import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { CertificateSigningRequest } from '../../../../api/core/kinds.ts';
import type { Resource } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { secretText } from '../../shared/secret.ts';
import { ApiError, UnreachableError } from '../../../../runtime/client/errors.ts';
import { requestPem, signingRequest } from '../../../../testing/builders/serving-certificate-request.ts';
import type { Wanted } from '../../../../testing/builders/serving-certificate-request.ts';
import { callsOf, tenantShape, untilDeath } from '../../../../testing/worlds/tenant-shape.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';

const key = { namespace: 'default', name: 'tenant' };
const on = { spec: { addons: { workerBootstrap: workerBootstrapAddon() } } };
const off = { spec: { addons: { workerBootstrap: null } } };
const csrKind = kinds.CertificateSigningRequest;
const rolls = 'component.steward.butlerlabs.dev/talos-trustd-credentials';

async function running(addons: object = { workerBootstrap: workerBootstrapAddon() }): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ spec: { dataStore: 'default', addons } });
  await world.settle();
  return world;
}

async function rbac(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    [kinds.ClusterRole, kinds.ClusterRoleBinding].map(
      async (kind) => (await world.tenant.admin.list<Resource>(kind)).items,
    ),
  );
  return all
    .flat()
    .flatMap(({ metadata: { name = '' } }) => (/endpointslice|kubelet-serving/.test(name) ? [name] : []));
}

async function credentials(world: TenantWorld): Promise<Readonly<Record<string, string>>> {
  return secretText((await world.secret('trustd-creds'))?.data);
}

async function checksumLabel(world: TenantWorld): Promise<string | undefined> {
  return (await world.deployment())?.spec?.template.metadata?.labels?.[rolls];
}

async function manifests(world: TenantWorld): Promise<unknown> {
  const service = await world.cluster.admin.get(kinds.Service, key);
  return { deployment: (await world.deployment())?.spec, service: service?.spec, shape: await tenantShape(world) };
}

async function addNode(world: TenantWorld, name: string, address: string): Promise<void> {
  const addresses = [
    { type: 'Hostname', address: name },
    { type: 'InternalIP', address },
  ];
  await world.tenant.seed(kinds.Node, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: { addresses },
  });
}

async function ask(
  world: TenantWorld,
  name: string,
  wanted: Wanted = {},
  spec: Partial<CertificateSigningRequest['spec']> = {},
): Promise<void> {
  await world.tenant.admin.create(csrKind, signingRequest(name, await requestPem(wanted), spec));
}

async function saidOf(world: TenantWorld, name: string): Promise<unknown> {
  const found = await world.tenant.admin.get(csrKind, { name });
  return found?.status?.conditions?.map(({ type, status, reason }) => `${type}=${status} ${reason ?? ''}`);
}

async function leftText(world: TenantWorld): Promise<string> {
  const list = (await world.read()).status?.conditions ?? [];
  return list.find(({ type }) => type === 'CertificateRequestsLeft')?.message ?? '';
}

describe('a tenant for workers of Talos', () => {
  test('is Ready, with trustd beside its API server and what workers need inside', async () => {
    const world = await running();
    expect(await world.condition('AddonsReady')).toBe('True');
    expect(await world.condition('UnsupportedFields')).toBe('False AllSupported: ');
    expect(await rbac(world)).toHaveLength(3);
    const { status } = await world.read();
    expect(status?.addons?.workerBootstrap).toMatchObject({
      enabled: true,
      provider: 'talos',
      credentials: { secretName: 'tenant-trustd-creds' },
      endpoint: expect.stringMatching(/:50001$/) as unknown,
      service: { name: 'tenant', namespace: 'default', port: 50001 },
    });
    expect(await checksumLabel(world)).toBe(status?.addons?.workerBootstrap?.credentials?.checksum);
  });

  test('keeps an authority of its own with all that it signed, and a token, in one Secret', async () => {
    const data = await credentials(await running());
    expect(Object.keys(data).sort()).toEqual(
      ['admin.crt', 'admin.key', 'os-ca.crt', 'os-ca.key', 'server.crt', 'server.key', 'token'].sort(),
    );
    const ca = new X509Certificate(data['os-ca.crt'] ?? '');
    expect(ca.subject).toBe('O=steward\nCN=tenant OS CA');
    expect(ca.publicKey.asymmetricKeyType).toBe('ed25519');
    for (const file of ['server.crt', 'admin.crt']) {
      expect(new X509Certificate(data[file] ?? '').verify(ca.publicKey)).toBe(true);
    }
    expect(data['server.crt']?.endsWith(data['os-ca.crt'] ?? '-')).toBe(true);
    expect(data.token).toMatch(/^butler\.[0-9a-f]{32}$/);
  });

  test('renews its certificates in time, and the pods with them, but neither authority nor token', async () => {
    const world = await running();
    const [before, label] = [await credentials(world), await checksumLabel(world)];
    await world.clock.advance(364.5 * 24 * 60 * 60_000);
    await world.settle();
    const after = await credentials(world);
    expect(after['server.crt']).not.toBe(before['server.crt']);
    expect(after['admin.crt']).not.toBe(before['admin.crt']);
    expect([after['os-ca.crt'], after.token]).toEqual([before['os-ca.crt'], before.token]);
    expect(await checksumLabel(world)).not.toBe(label);
  });

  test('gets a certificate for a new name of its author, and only that', async () => {
    const world = await running();
    const before = await credentials(world);
    await world.change({
      spec: { addons: { workerBootstrap: workerBootstrapAddon({ talos: { certSANs: ['talos.example.org'] } }) } },
    });
    await world.settle();
    const after = await credentials(world);
    expect(new X509Certificate(after['server.crt'] ?? '').checkHost('talos.example.org')).toBeDefined();
    expect(after['admin.crt']).toBe(before['admin.crt']);
  });

  test('has everything made anew when somebody asks for it', async () => {
    const world = await running();
    const before = await credentials(world);
    const body = { metadata: { annotations: { [annotations.rotate]: '' } } };
    await world.cluster.admin.patch(kinds.Secret, { ...key, name: 'tenant-trustd-creds' }, { type: 'merge', body });
    await world.settle();
    const after = await credentials(world);
    for (const name of ['os-ca.crt', 'server.crt', 'admin.crt', 'token']) expect(after[name]).not.toBe(before[name]);
    expect(world.events.join()).toContain('OsAuthorityReplaced');
  });

  test.each([
    ['is gone', { delete: true }],
    ['lost its authority', { data: { 'os-ca.key': null } }],
    ['lost its token', { data: { token: null } }],
    ['has an authority that does not fit', { data: { 'os-ca.crt': Buffer.from('x').toString('base64') } }],
  ])('says what helps when the Secret %s: a new one would cut workers off', async (_what, how) => {
    const world = await running();
    const at = { ...key, name: 'tenant-trustd-creds' };
    if ('delete' in how) await world.cluster.admin.delete(kinds.Secret, at);
    else await world.cluster.admin.patch(kinds.Secret, at, { type: 'merge', body: how });
    await world.settle();
    expect(await world.condition('CertificatesReady')).toMatch(/SecretBroken: Secret tenant-trustd-creds .*restore it/);
  });

  test('gets back what somebody breaks of the rest, on both sides', async () => {
    const world = await running();
    const at = { ...key, name: 'tenant-trustd-creds' };
    await world.cluster.admin.patch(kinds.Secret, at, { type: 'merge', body: { data: { 'server.key': 'eA==' } } });
    await world.tenant.admin.delete(kinds.ClusterRole, { name: 'steward:node-endpointslice-reader' });
    await world.settle();
    await world.clock.advance(15 * 60_000);
    await world.settle();
    expect((await credentials(world))['server.key']).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(await rbac(world)).toHaveLength(3);
  });

  test('writes nothing at rest', async () => {
    const world = await running();
    const before = await world.writes();
    const calls = world.tenant.calls.length;
    await world.reconcile();
    expect(await world.writes()).toBe(before);
    expect(world.tenant.calls.slice(calls).map(({ verb }) => verb)).toEqual(['text', 'list']);
  });
});

describe('the bootstrap of workers that is taken out', () => {
  test('leaves exactly what was there before, on both sides, and can come and go again', async () => {
    const world = await running({});
    const before = await manifests(world);
    for (let times = 0; times < 2; times += 1) {
      await world.change(on);
      await world.settle();
      expect(await rbac(world)).toHaveLength(3);
      expect(await world.secret('trustd-creds')).toBeDefined();
      expect((await world.read()).status?.addons?.workerBootstrap?.enabled).toBe(true);
      await world.change(off);
      await world.settle();
      expect(await rbac(world)).toEqual([]);
      expect(await manifests(world)).toEqual(before);
      expect((await world.read()).status?.addons?.workerBootstrap).toEqual({ enabled: false });
    }
  });

  test('keeps the Secret until no pod needs it', async () => {
    const world = await running();
    world.podsStart = false;
    await world.change(off);
    await world.settle();
    await world.reportPods({ replicas: 4, updatedReplicas: 2, readyReplicas: 3, unavailableReplicas: 1 });
    await world.settle();
    expect(await world.secret('trustd-creds')).toBeDefined();
    await world.startPods();
    await world.settle();
    expect(await world.secret('trustd-creds')).toBeUndefined();
  });

  test('is gone also when the process dies after any of its calls, and can come again', async () => {
    const measured = await running();
    await measured.change(off);
    const total = await callsOf(measured, () => measured.settle());
    const expected = await tenantShape(measured);
    const removals = measured.cluster.calls.slice(-total).findIndex(({ verb }) => verb === 'delete');
    expect(removals).toBeGreaterThan(0);
    for (let calls = removals - 3; calls <= total; calls += 1) {
      const world = await running();
      await world.change(off);
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      world.restart();
      await world.change(on);
      await world.settle();
      expect({ calls, ready: await world.condition('AddonsReady') }).toEqual({ calls, ready: 'True' });
      await world.change(off);
      await world.settle();
      expect({ calls, shape: await tenantShape(world) }).toEqual({ calls, shape: expected });
    }
  }, 300_000);
});

describe('a request for a serving certificate', () => {
  test('is approved when its node reports all that it asks for', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    await ask(world, 'csr-a');
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toEqual(['Approved=True StewardAutoApproved']);
    expect(world.events.join()).toContain('CertificateRequestsApproved: approved serving certificate requests: 1');
    expect(await world.condition('CertificateRequestsLeft')).toBe('absent');
  });

  test('of one node for another is left alone, and told with the reason and an Event', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    await addNode(world, 'worker-2', '192.0.2.10');
    await ask(world, 'csr-a', { ipAddresses: ['192.0.2.10'] });
    await ask(world, 'csr-b', { commonName: 'system:node:worker-2' });
    await world.settle();
    expect([await saidOf(world, 'csr-a'), await saidOf(world, 'csr-b')]).toEqual([undefined, undefined]);
    expect(await leftText(world)).toBe(
      'certificate requests of the tenant were not approved: csr-a asks for 192.0.2.10, which node worker-1 does not report; csr-b was created by node worker-1 but names another subject: review them, then approve or deny them with kubectl certificate',
    );
    expect(world.events.filter((event) => event.startsWith('NotApproved'))).toHaveLength(1);
    expect(await world.condition('AddonsReady')).toBe('True');
  });

  test('for a name of the API server is left alone though the node claims that name', async () => {
    const world = await running();
    await addNode(world, 'kubernetes', '192.0.2.9');
    const spec = { username: 'system:node:kubernetes' };
    await ask(world, 'csr-a', { commonName: 'system:node:kubernetes', dnsNames: ['kubernetes'] }, spec);
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toBeUndefined();
    expect(await leftText(world)).toContain('a name of the cluster itself');
  });

  test('is looked at again while its node may yet report what it asks for', async () => {
    const world = await running();
    await ask(world, 'csr-a');
    expect((await world.settle()).afterMs).toBeLessThanOrEqual(10_000);
    await addNode(world, 'worker-1', '192.0.2.9');
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toEqual(['Approved=True StewardAutoApproved']);
    expect(await world.condition('CertificateRequestsLeft')).toBe('False AllHandled: ');
  });

  test('asks for a visit when it is made', async () => {
    const world = await running();
    expect(world.enqueued).toBe(0);
    await ask(world, 'csr-a');
    await world.clock.advance(2_000);
    expect(world.enqueued).toBe(1);
  });

  test('lies in the allowed subnets, if there are any', async () => {
    const world = await running({ workerBootstrap: workerBootstrapAddon({ allowedSubnets: ['198.51.100.0/24'] }) });
    await addNode(world, 'worker-1', '192.0.2.9');
    await ask(world, 'csr-a');
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toBeUndefined();
    await world.change({
      spec: { addons: { workerBootstrap: workerBootstrapAddon({ allowedSubnets: ['192.0.2.0/24'] }) } },
    });
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toEqual(['Approved=True StewardAutoApproved']);
  });

  test('is nobody’s concern where autoApprove is off', async () => {
    const world = await running({ workerBootstrap: workerBootstrapAddon({ autoApprove: false }) });
    await addNode(world, 'worker-1', '192.0.2.9');
    await ask(world, 'csr-a');
    await world.settle();
    await world.clock.advance(60_000);
    expect(await saidOf(world, 'csr-a')).toBeUndefined();
    expect(world.tenant.calls.some(({ kind }) => kind?.kind === csrKind.kind)).toBe(false);
    expect(world.enqueued).toBe(0);
  });

  test('that somebody has denied stays denied, also when that happens meanwhile', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    await ask(world, 'csr-a');
    const stop = world.tenant.before(async ({ verb, kind }) => {
      if (verb !== 'get' || kind?.kind !== 'Node') return;
      stop();
      const body = { status: { conditions: [{ type: 'Denied', status: 'True', reason: 'Person' }] } };
      await world.tenant.admin.patch(csrKind, { name: 'csr-a' }, { type: 'merge', body }, { subresource: 'approval' });
    });
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toEqual(['Denied=True Person']);
  });

  test('that fits and is refused by the tenant’s own policies is told, and holds up nothing', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    await ask(world, 'csr-a');
    world.tenant.failNext({ verb: 'patch', kind: csrKind.kind }, new ApiError(403, 'Forbidden', 'no'), 99);
    await world.settle();
    expect(await leftText(world)).toContain(
      'csr-a passed all checks, but the API server of the tenant refused the approval',
    );
    expect(await world.condition('AddonsReady')).toBe('True');
  });
});

describe('ten thousand requests of a hostile tenant', () => {
  test('are looked at page by page, told in a few words, and keep no request of a node from its approval', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    const hostile = signingRequest('', 'x');
    for (let at = 0; at < 10_000; at += 1) {
      const name = `a-${String(at).padStart(5, '0')}`;
      await world.tenant.admin.create(csrKind, { ...hostile, metadata: { name } });
    }
    await ask(world, 'z-last');
    let reconciles = 0;
    while ((await saidOf(world, 'z-last')) === undefined && reconciles < 150) {
      const before = world.tenant.calls.length;
      const end = await world.reconcile();
      expect(end.error).toBeUndefined();
      expect(world.tenant.calls.length - before).toBeLessThanOrEqual(4);
      if (reconciles < 100) expect(end.afterMs).toBeLessThanOrEqual(2_000);
      reconciles += 1;
    }
    expect(reconciles).toBe(101);
    expect(await leftText(world)).toMatch(/a-00000 .*a-00001 .*a-00002 .*9997 more/);
    expect((await leftText(world)).length).toBeLessThan(1000);
  }, 120_000);

  test('that are too large to read a hundred at once are read in small pieces', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    for (const at of [0, 1, 2, 3, 4, 5]) await ask(world, `csr-${at}`);
    world.tenant.failNext(
      { verb: 'list', kind: csrKind.kind },
      new UnreachableError('the list is larger than 8388608 bytes'),
    );
    await world.reconcile();
    expect(await saidOf(world, 'csr-4')).toBeDefined();
    expect(await saidOf(world, 'csr-5')).toBeUndefined();
    await world.reconcile();
    expect(await saidOf(world, 'csr-5')).toBeDefined();
  });

  test('that a slow tenant takes long to approve are left to later visits, so that it keeps no worker to itself', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    const names = Array.from({ length: 20 }, (_, at) => `csr-${String(at).padStart(2, '0')}`);
    for (const name of names) await ask(world, name);
    world.tenant.before(async ({ verb, kind }) => {
      if (verb === 'patch' && kind?.kind === csrKind.kind) await world.clock.advance(6_000);
    });
    const decided = async (): Promise<number> =>
      (await Promise.all(names.map((name) => saidOf(world, name)))).filter((said) => said !== undefined).length;
    expect((await world.reconcile()).afterMs).toBeLessThanOrEqual(2_000);
    expect(await decided()).toBe(8);
    await world.reconcile();
    await world.reconcile();
    expect(await decided()).toBe(20);
  });

  test('whose place is forgotten between two pages are looked at from the beginning', async () => {
    const world = await running();
    for (let at = 0; at < 150; at += 1) await ask(world, `csr-${String(at).padStart(3, '0')}`);
    expect((await world.reconcile()).afterMs).toBeLessThanOrEqual(2_000);
    world.tenant.failNext({ verb: 'list', kind: csrKind.kind }, new ApiError(410, 'Expired', 'too old'));
    expect((await world.reconcile()).error).toBeUndefined();
    await world.reconcile();
    await world.reconcile();
    expect(await leftText(world)).toContain('147 more');
  });
});

import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { CertificateSigningRequest } from '../../../../api/core/kinds.ts';
import { ApiError, UnreachableError } from '../../../../runtime/client/errors.ts';
import { requestPem, signingRequest } from '../../../../testing/builders/serving-certificate-request.ts';
import type { Wanted } from '../../../../testing/builders/serving-certificate-request.ts';
import { workerBootstrapAddon } from '../../../../testing/builders/worker-bootstrap-addon.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

const csrKind = kinds.CertificateSigningRequest;

async function running(addons: object = { workerBootstrap: workerBootstrapAddon() }): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ spec: { dataStore: 'default', addons } });
  await world.settle();
  return world;
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

describe('a request for a serving certificate', () => {
  test('is approved when its node reports everything that it requests', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    await ask(world, 'csr-a');
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toEqual(['Approved=True StewardAutoApproved']);
    expect(world.events.join()).toContain('CertificateRequestsApproved: approved serving certificate requests: 1');
    expect(await world.condition('CertificateRequestsLeft')).toBe('absent');
  });

  test('of one node for another is not approved, and is reported with the reason and an Event', async () => {
    const world = await running();
    await addNode(world, 'worker-1', '192.0.2.9');
    await addNode(world, 'worker-2', '192.0.2.10');
    await ask(world, 'csr-a', { ipAddresses: ['192.0.2.10'] });
    await ask(world, 'csr-b', { commonName: 'system:node:worker-2' });
    await world.settle();
    expect([await saidOf(world, 'csr-a'), await saidOf(world, 'csr-b')]).toEqual([undefined, undefined]);
    expect(await leftText(world)).toBe(
      'certificate requests of the tenant were not approved: csr-a requests 192.0.2.10, which node worker-1 does not report; csr-b was created by node worker-1 but names another subject: review them, then approve or deny them with kubectl certificate',
    );
    expect(world.events.filter((event) => event.startsWith('NotApproved'))).toHaveLength(1);
    expect(await world.condition('AddonsReady')).toBe('True');
  });

  test('for a name of the API server is not approved, although the node claims that name', async () => {
    const world = await running();
    await addNode(world, 'kubernetes', '192.0.2.9');
    const spec = { username: 'system:node:kubernetes' };
    await ask(world, 'csr-a', { commonName: 'system:node:kubernetes', dnsNames: ['kubernetes'] }, spec);
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toBeUndefined();
    expect(await leftText(world)).toContain('a name of the cluster itself');
  });

  test('is checked again while its node may still report what it requests', async () => {
    const world = await running();
    await ask(world, 'csr-a');
    expect((await world.settle()).afterMs).toBeLessThanOrEqual(10_000);
    await addNode(world, 'worker-1', '192.0.2.9');
    await world.settle();
    expect(await saidOf(world, 'csr-a')).toEqual(['Approved=True StewardAutoApproved']);
    expect(await world.condition('CertificateRequestsLeft')).toBe('False AllHandled: ');
  });

  test('enqueues its tenant when it is created', async () => {
    const world = await running();
    expect(world.enqueued).toBe(0);
    await ask(world, 'csr-a');
    await world.clock.advance(2_000);
    expect(world.enqueued).toBe(1);
  });

  test('is approved only for addresses in the allowed subnets, if there are any', async () => {
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

  test('is not read while autoApprove is off', async () => {
    const world = await running({ workerBootstrap: workerBootstrapAddon({ autoApprove: false }) });
    await addNode(world, 'worker-1', '192.0.2.9');
    await ask(world, 'csr-a');
    await world.settle();
    await world.clock.advance(60_000);
    expect(await saidOf(world, 'csr-a')).toBeUndefined();
    expect(world.tenant.calls.some(({ kind }) => kind?.kind === csrKind.kind)).toBe(false);
    expect(world.enqueued).toBe(0);
  });

  test('that was denied stays denied, also when that happens during the check', async () => {
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

  test('that is valid but refused by the tenant’s own policies is reported, and delays nothing else', async () => {
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
  test('are read page by page, reported in a short message, and do not prevent the approval of a node’s request', async () => {
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

  test('that a slow tenant takes long to approve are left to later reconciles, so that it does not occupy a worker', async () => {
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

  test('are read from the beginning again if the token of the next page has expired', async () => {
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

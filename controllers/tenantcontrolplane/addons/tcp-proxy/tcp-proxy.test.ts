import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import type { Secret } from '../../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import { callsOf, tenantShape, untilDeath } from '../../../../testing/worlds/tenant-shape.ts';
import { isTrusted, operate, secretValues, settleRotation } from '../../../../testing/worlds/rotating-tenant.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';
import { secretText } from '../../shared/secret.ts';
import { crashPoints } from '../../../../testing/worlds/crash-points.ts';

const inTenant = { namespace: 'kube-system', name: 'steward-tcp-proxy' };
const tlsKey = { namespace: 'kube-system', name: 'steward-tcp-proxy-tls' };
const on = { spec: { addons: { tcpProxy: {} } } };
const off = { spec: { addons: { tcpProxy: null } } };
const hostname = 'one.k8s.example.org';
const ingress = { spec: { controlPlane: { ingress: { hostname, controllerType: 'nginx' } } } };

async function running(addons: object = { tcpProxy: {} }): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create({ spec: { dataStore: 'default', addons } });
  await world.settle();
  return world;
}

/** With a router in front, so that the proxy ends TLS connections. */
async function routed(): Promise<TenantWorld> {
  const world = await running();
  await behindRouter(world);
  return world;
}

/** The router has had its minute: until then the proxy leads to where it did. */
async function behindRouter(world: TenantWorld): Promise<void> {
  await world.change(ingress);
  await world.settle();
  await world.clock.advance(61_000);
  await world.settle();
}

const proxyKinds: readonly KindRef[] = [
  kinds.ServiceAccount,
  kinds.ClusterRole,
  kinds.ClusterRoleBinding,
  kinds.Service,
  kinds.Deployment,
  kinds.Secret,
];

async function proxyObjects(world: TenantWorld): Promise<readonly string[]> {
  const all = await Promise.all(
    proxyKinds.map(async (kind) => {
      const { items } = await world.tenant.admin.list<Resource>(kind);
      return items.map(({ metadata }) => `${kind.kind}/${metadata.name}`);
    }),
  );
  return all.flat().filter((name) => name.includes('tcp-proxy'));
}

async function apiServerFlags(world: TenantWorld): Promise<readonly string[]> {
  const { containers = [] } = (await world.deployment())?.spec?.template.spec ?? {};
  return (containers.find(({ name }) => name === 'kube-apiserver')?.args ?? []).filter((flag) =>
    flag.includes('reconciler'),
  );
}

const tlsSecret = (world: TenantWorld): Promise<Secret | undefined> => world.tenant.admin.get(kinds.Secret, tlsKey);

async function manifests(world: TenantWorld): Promise<unknown> {
  return {
    deployment: (await world.deployment())?.spec,
    shape: await tenantShape(world),
    proxy: await proxyObjects(world),
  };
}

describe('a tenant with a proxy', () => {
  test('is Ready, with the proxy inside and an API server that leaves the Service kubernetes to it', async () => {
    const world = await running();
    expect(await world.condition('AddonsReady')).toBe('True');
    expect(await apiServerFlags(world)).toEqual(['--endpoint-reconciler-type=none']);
    expect(await proxyObjects(world)).toEqual([
      'ServiceAccount/steward-tcp-proxy',
      'ClusterRole/steward:tcp-proxy',
      'ClusterRoleBinding/steward:tcp-proxy',
      'Service/steward-tcp-proxy',
      'Deployment/steward-tcp-proxy',
    ]);
    expect((await world.read()).status?.addons?.tcpProxy).toMatchObject({
      enabled: true,
      deployment: inTenant,
      service: inTenant,
      serviceAccount: inTenant,
      clusterRole: { name: 'steward:tcp-proxy' },
      clusterRoleBinding: { name: 'steward:tcp-proxy' },
    });
  });

  test('behind a router has its own serving certificate, and no other key', async () => {
    const world = await routed();
    const data = secretText((await tlsSecret(world))?.data);
    const certificate = new X509Certificate(data['tls.crt'] ?? '');
    expect(certificate.subject).toBe('CN=steward-tcp-proxy');
    expect(certificate.checkHost('kubernetes.default.svc')).toBeDefined();
    expect([certificate.checkHost(hostname), certificate.checkIP('192.0.2.7')]).toEqual([undefined, undefined]);
    const ca = secretText((await world.secret('ca'))?.data);
    expect(certificate.verify(new X509Certificate(ca['ca.crt'] ?? '').publicKey)).toBe(true);
    const { items } = await world.cluster.admin.list(kinds.Secret, { namespace: 'default' });
    const others = items.filter(({ metadata }) => metadata.name !== 'tenant-tcp-proxy-certificate');
    const keys = others.flatMap(({ data: held }) =>
      Object.entries(secretText(held)).flatMap(([name, value]) => (/key|conf|token/i.test(name) ? [value] : [])),
    );
    const inside = await Promise.all(
      proxyKinds.map(async (kind) => (await world.tenant.admin.list<Resource>(kind)).items),
    );
    const everything = JSON.stringify(inside.flat());
    const leaked = keys.filter((value) => value !== '' && everything.includes(Buffer.from(value).toString('base64')));
    expect(keys.length).toBeGreaterThan(5);
    expect(leaked).toEqual([]);
  });

  test('has new pods with a new certificate when its CA is replaced', async () => {
    const world = await routed();
    const template = async (): Promise<unknown> =>
      (await world.tenant.admin.get(kinds.Deployment, inTenant))?.spec?.template.metadata?.annotations;
    const before = await template();
    const body = { metadata: { annotations: { [annotations.rotate]: '' } } };
    await world.cluster.admin.patch(kinds.Secret, { namespace: 'default', name: 'tenant-ca' }, { type: 'merge', body });
    await world.settle();
    expect(await template()).not.toEqual(before);
    const ca = secretText((await world.secret('ca'))?.data);
    expect(secretText((await tlsSecret(world))?.data)['ca.crt']).toBe(ca['ca.crt']);
  });

  test('renews its certificate in time, and on request', async () => {
    const world = await routed();
    const before = (await tlsSecret(world))?.data?.['tls.crt'];
    await world.clock.advance(364.5 * 24 * 60 * 60_000);
    await world.settle();
    const renewed = (await tlsSecret(world))?.data?.['tls.crt'];
    expect(renewed).not.toBe(before);
    const at = { namespace: 'default', name: 'tenant-tcp-proxy-certificate' };
    const body = { metadata: { annotations: { [annotations.rotate]: '' } } };
    await world.cluster.admin.patch(kinds.Secret, at, { type: 'merge', body });
    await world.settle();
    expect((await tlsSecret(world))?.data?.['tls.crt']).not.toBe(renewed);
  });

  test('passes through with an internal endpoint, which the API server’s certificate names, and keeps no key then', async () => {
    const world = await routed();
    await world.change({ spec: { addons: { tcpProxy: { internalEndpoint: '192.0.2.8:7443' } } } });
    await world.settle();
    expect(await tlsSecret(world)).toBeUndefined();
    expect(await world.secret('tcp-proxy-certificate')).toBeUndefined();
    const certificate = secretText((await world.secret('api-server-certificate'))?.data)['apiserver.crt'] ?? '';
    expect(new X509Certificate(certificate).checkIP('192.0.2.8')).toBeDefined();
    const deployment = await world.tenant.admin.get(kinds.Deployment, inTenant);
    expect(deployment?.spec?.template.spec?.containers[0]?.args).toContain('--upstream-addr=192.0.2.8:7443');
  });

  test('has its objects restored after they were deleted or edited, on both sides', async () => {
    const world = await routed();
    await world.tenant.admin.delete(kinds.Deployment, inTenant);
    await world.tenant.admin.patch(kinds.Secret, tlsKey, { type: 'merge', body: { data: { 'tls.key': 'eA==' } } });
    await world.cluster.admin.delete(kinds.Secret, { namespace: 'default', name: 'tenant-tcp-proxy-certificate' });
    await world.settle();
    await world.clock.advance(15 * 60_000);
    await world.settle();
    expect(await proxyObjects(world)).toHaveLength(6);
    const kept = (await world.secret('tcp-proxy-certificate'))?.data;
    expect((await tlsSecret(world))?.data).toEqual(kept);
    expect(secretText(kept)['tls.key']).toMatch(/PRIVATE KEY/);
  });

  test('writes nothing at rest', async () => {
    const world = await routed();
    const [before, calls] = [await world.writes(), world.tenant.calls.length];
    await world.reconcile();
    expect(await world.writes()).toBe(before);
    expect(world.tenant.calls.length - calls).toBeLessThanOrEqual(1);
  });
});

describe('a proxy that is disabled', () => {
  test('leaves exactly what was there before, on both sides, and can be enabled and disabled again', async () => {
    const world = await running({});
    await behindRouter(world);
    const before = await manifests(world);
    for (let times = 0; times < 2; times += 1) {
      await world.change(on);
      await world.settle();
      expect(await proxyObjects(world)).toHaveLength(6);
      expect(await world.secret('tcp-proxy-certificate')).toBeDefined();
      await world.change(off);
      await world.settle();
      expect(await manifests(world)).toEqual(before);
      expect((await world.read()).status?.addons?.tcpProxy).toEqual({ enabled: false });
    }
  });

  test('is removed even if the process dies after any call to the tenant, however early', async () => {
    const measured = await running({});
    await measured.change(on);
    const total = await callsOf(measured, () => measured.settle());
    const thirds = Array.from({ length: Math.floor(total / 3) + 1 }, (_, at) => at * 3);
    for (const calls of crashPoints(thirds, 'TCP proxy')) {
      const world = await running({});
      await world.change(on);
      world.cluster.crashAfter(calls, { losesAnswer: true });
      await untilDeath(world);
      world.restart();
      await world.change(off);
      await world.settle();
      expect({ calls, left: await proxyObjects(world) }).toEqual({ calls, left: [] });
    }
  }, 300_000);
});

describe('a tenant without a proxy', () => {
  test('has no object of it, and gets no request about it', async () => {
    const world = await running({ coreDNS: {} });
    await world.change({ spec: { networkProfile: { certSANs: ['example.org'] } } });
    await world.settle();
    expect(JSON.stringify(await manifests(world))).not.toMatch(/tcp-proxy/);
    expect(world.tenant.calls.some(({ kind }) => kind?.kind === 'Secret')).toBe(false);
    expect((await world.read()).status?.addons?.tcpProxy).toBeUndefined();
  });
});

describe('a rotation of CAs', () => {
  test('leaves the proxy a certificate that earlier pods can verify, until it is completed', async () => {
    const world = await routed();
    await settleRotation(world);
    const shown = async (): Promise<string> => secretText((await tlsSecret(world))?.data)['tls.crt'] ?? '';
    const { 'ca.crt': old = '' } = await secretValues(world, 'ca');
    await operate(world, 'rotate-ca-start');
    const { 'ca.crt': next = '' } = await secretValues(world, 'ca');
    expect(next).not.toBe(old);
    expect([isTrusted(await shown(), old), isTrusted(await shown(), next)]).toEqual([true, false]);
    await operate(world, 'rotate-ca-complete');
    expect([isTrusted(await shown(), old), isTrusted(await shown(), next)]).toEqual([false, true]);
  });
});

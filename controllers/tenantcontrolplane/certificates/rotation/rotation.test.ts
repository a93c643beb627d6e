import { beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../../api/core/kinds.ts';
import { annotations, componentChecksumLabel } from '../../../../api/names.ts';
import { tenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { parseKubeconfig } from '../../../../kubeadm/kubeconfig.ts';
import { publicHalf, publicKeyBlocks } from '../../../../kubeadm/pki/public-keys.ts';
import {
  ask,
  isTrusted,
  operate,
  podFlag,
  publishAuthorities,
  rotationOf,
  secretValues,
  settleRotation,
} from '../../../../testing/worlds/rotating-tenant.ts';
import { konnectivityAddon } from '../../../../testing/builders/konnectivity-addon.ts';
import { TenantWorld } from '../../../../testing/worlds/tenant-world.ts';

const day = 24 * 60 * 60 * 1000;

async function running(): Promise<TenantWorld> {
  const world = new TenantWorld();
  const addons = { coreDNS: {}, kubeProxy: {}, konnectivity: konnectivityAddon() };
  await world.create({ spec: { dataStore: 'default', addons } });
  await settleRotation(world);
  return world;
}

async function adminClient(world: TenantWorld): Promise<ReturnType<typeof parseKubeconfig>> {
  return parseKubeconfig((await secretValues(world, 'admin-kubeconfig'))['admin.conf'] ?? '');
}

async function apiServerCertificate(world: TenantWorld): Promise<string> {
  return (await secretValues(world, 'api-server-certificate'))['apiserver.crt'] ?? '';
}

/** What the pods of add-ons carry when they were made after a rotation; every value once. */
async function addonsSince(world: TenantWorld): Promise<readonly (string | undefined)[]> {
  const { admin } = world.tenant;
  const at = (name: string) => ({ namespace: 'kube-system', name });
  const found = await Promise.all([
    admin.get(kinds.DaemonSet, at('kube-proxy')),
    admin.get(kinds.DaemonSet, at('konnectivity-agent')),
    admin.get(kinds.Deployment, at('coredns')),
  ]);
  expect(found).not.toContain(undefined);
  return [...new Set(found.map((one) => one?.spec?.template.metadata?.annotations?.[annotations.trustedSince]))];
}

describe('A rotation of CAs and keys', () => {
  let world: TenantWorld;
  let old: { ca: Readonly<Record<string, string>>; keys: Readonly<Record<string, string>>; front: string };

  beforeAll(async () => {
    world = await running();
    old = {
      ca: await secretValues(world, 'ca'),
      keys: await secretValues(world, 'sa-certificate'),
      front: (await secretValues(world, 'front-proxy-ca-certificate'))['front-proxy-ca.crt'] ?? '',
    };
    await operate(world, 'rotate-credentials-start');
  });

  test('waits in Prepared for people, and reports that', async () => {
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared', step: 'Signing' });
    expect(await rotationOf(world, 'serviceAccountKey')).toMatchObject({ phase: 'Prepared' });
    expect(await world.condition('Rotating')).toBe('True');
    expect(await world.condition('Ready')).toBe('True');
    expect(await world.state()).toBe('Ready');
    expect(world.events.filter((event) => event.startsWith('Rotation')).map((event) => event.split(':')[0])).toEqual([
      'RotationRequested',
      'RotationPrepared',
      'RotationPrepared',
    ]);
  });

  test('makes everything trust the old and the new one', async () => {
    const ca = await secretValues(world, 'ca');
    expect(ca['ca.crt']).not.toBe(old.ca['ca.crt']);
    for (const pem of [old.ca['ca.crt'] ?? '', ca['ca.crt'] ?? '']) {
      expect(ca['ca-bundle.crt']).toContain(pem.trim());
      expect(ca['tls.crt']).toContain(pem.trim());
      expect((await adminClient(world)).ca).toContain(pem.trim());
    }
    for (const container of ['kube-apiserver', 'kube-controller-manager']) {
      expect(await podFlag(world, container, 'client-ca-file')).toBe('/etc/kubernetes/pki/ca-bundle.crt');
      expect(await podFlag(world, container, 'requestheader-client-ca-file')).toBe(
        '/etc/kubernetes/pki/front-proxy-ca-bundle.crt',
      );
    }
    expect(await podFlag(world, 'kube-controller-manager', 'root-ca-file')).toBe('/etc/kubernetes/pki/ca-bundle.crt');
    const info = await world.tenant.admin.get(kinds.ConfigMap, { namespace: 'kube-public', name: 'cluster-info' });
    expect(info?.data?.kubeconfig).toContain(Buffer.from(ca['ca-bundle.crt'] ?? '').toString('base64'));
    const front = await secretValues(world, 'front-proxy-ca-certificate');
    expect(front['front-proxy-ca-bundle.crt']).toContain(old.front.trim());
  });

  test('signs with the new CA what the API server verifies, and with the old one what others verify', async () => {
    const ca = await secretValues(world, 'ca');
    expect(isTrusted((await adminClient(world)).client.certificate, ca['ca.crt'] ?? '')).toBe(true);
    for (const [suffix, key] of [
      ['controller-manager-kubeconfig', 'controller-manager.conf'],
      ['scheduler-kubeconfig', 'scheduler.conf'],
      ['konnectivity-kubeconfig', 'konnectivity-server.conf'],
    ] as const) {
      const { client } = parseKubeconfig((await secretValues(world, suffix))[key] ?? '');
      expect(isTrusted(client.certificate, ca['ca.crt'] ?? '')).toBe(true);
    }
    expect(isTrusted(await apiServerCertificate(world), old.ca['ca.crt'] ?? '')).toBe(true);
    const tunnel = await secretValues(world, 'konnectivity-certificate');
    expect(isTrusted(tunnel['tls.crt'] ?? '', old.ca['ca.crt'] ?? '')).toBe(true);
    const kubelet = await secretValues(world, 'api-server-kubelet-client-certificate');
    expect(isTrusted(kubelet['apiserver-kubelet-client.crt'] ?? '', old.ca['ca.crt'] ?? '')).toBe(true);
    const front = await secretValues(world, 'front-proxy-client-certificate');
    expect(isTrusted(front['front-proxy-client.crt'] ?? '', old.front)).toBe(true);
  });

  test('lets kube-controller-manager sign with a file that contains only the new certificate', async () => {
    expect(await podFlag(world, 'kube-controller-manager', 'cluster-signing-cert-file')).toBe(
      '/etc/kubernetes/pki/ca.crt',
    );
    expect((await secretValues(world, 'ca'))['ca.crt']?.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
  });

  test('mounts no private key of a CA except the signing one', async () => {
    const { volumes = [] } = (await world.deployment())?.spec?.template.spec ?? {};
    const keys = volumes.flatMap(({ name, projected }) =>
      (projected?.sources ?? []).flatMap(({ secret }) =>
        (secret?.items ?? []).map(({ key }) => `${name} ${secret?.name ?? ''} ${key}`),
      ),
    );
    expect(keys.filter((line) => /tenant-(?:ca|front-proxy-ca-certificate) .*\.key$/.test(line))).toEqual([
      'controller-manager-pki tenant-ca ca.key',
    ]);
  });

  test('verifies tokens of both keys, and signs with the new one', async () => {
    const keys = await secretValues(world, 'sa-certificate');
    expect(keys['sa.key']).not.toBe(old.keys['sa.key']);
    expect(publicKeyBlocks(keys['sa.pub'] ?? '').map((block) => block.trim())).toEqual([
      publicHalf(keys['sa.key'] ?? '', 'sa.key').trim(),
      old.keys['sa.pub']?.trim(),
    ]);
  });

  test('restarts the pods of add-ons, which read the CAs again', async () => {
    expect(await addonsSince(world)).toEqual([(await rotationOf(world))?.lastInitiationFinishedTime]);
  });

  test('writes nothing while it waits', async () => {
    const before = await world.writes();
    await world.reconcile();
    world.restart();
    await world.reconcile();
    expect(await world.writes()).toBe(before);
  });

  test('leaves only the new ones when it is completed', async () => {
    const prepared = { ca: await secretValues(world, 'ca'), since: await addonsSince(world) };
    await operate(world, 'rotate-credentials-complete');
    expect(await rotationOf(world)).toMatchObject({ phase: 'Completed' });
    expect(await rotationOf(world, 'serviceAccountKey')).toMatchObject({ phase: 'Completed' });
    expect(await world.condition('Rotating')).toMatch(/^False Completed/);
    const ca = await secretValues(world, 'ca');
    const certificate = prepared.ca['ca.crt'] ?? '';
    expect(ca).toEqual({
      'ca.crt': certificate,
      'ca.key': prepared.ca['ca.key'],
      'tls.crt': certificate,
      'tls.key': prepared.ca['ca.key'],
      'ca-bundle.crt': certificate,
    });
    expect((await adminClient(world)).ca).toBe(certificate);
    expect(isTrusted(await apiServerCertificate(world), certificate)).toBe(true);
    const keys = await secretValues(world, 'sa-certificate');
    expect(keys).toEqual({ 'sa.key': keys['sa.key'], 'sa.pub': publicHalf(keys['sa.key'] ?? '', 'sa.key') });
    expect(await addonsSince(world)).toEqual(prepared.since);
  });

  test('can be repeated', async () => {
    const before = (await secretValues(world, 'ca'))['ca.crt'];
    await world.clock.advance(60_000);
    await operate(world, 'rotate-ca-start');
    expect((await secretValues(world, 'ca'))['ca.crt']).not.toBe(before);
    await operate(world, 'rotate-ca-complete');
    expect(await rotationOf(world)).toMatchObject({ phase: 'Completed' });
  });
});

describe('A rotation that is completed', () => {
  test('leaves no predecessor that a late request brings back', async () => {
    const world = await running();
    await operate(world, 'rotate-credentials-start');
    const suffixes = ['ca', 'front-proxy-ca-certificate', 'sa-certificate'];
    const late = await Promise.all(suffixes.map((suffix) => world.secret(suffix)));
    await operate(world, 'rotate-credentials-complete');
    const before = await Promise.all(suffixes.map((suffix) => secretValues(world, suffix)));

    for (const secret of late) {
      if (secret === undefined) throw new Error('a Secret is missing');
      const { apiVersion, kind, type, data, metadata } = secret;
      const { name, namespace, labels, annotations: about } = metadata;
      const body = { apiVersion, kind, type, data, metadata: { name, namespace, labels, annotations: about } };
      await world.cluster.admin.apply(kinds.Secret, body, { fieldManager: 'steward' });
    }
    expect((await secretValues(world, 'ca'))['ca-previous.crt']).toBeDefined();
    await settleRotation(world);

    expect(await Promise.all(suffixes.map((suffix) => secretValues(world, suffix)))).toEqual(before);
  });
});

describe('A tenant whose credentials were never rotated', () => {
  test('has no bundle, and its add-ons no annotation', async () => {
    const world = await running();
    expect(Object.keys(await secretValues(world, 'ca')).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    expect(await podFlag(world, 'kube-apiserver', 'client-ca-file')).toBe('/etc/kubernetes/pki/ca.crt');
    expect(await addonsSince(world)).toEqual([undefined]);
    expect(await world.condition('Rotating')).toBe('absent');
  });

  test('still has none of this when only the service-account key is rotated', async () => {
    const world = await running();
    const before = await secretValues(world, 'ca');
    await operate(world, 'rotate-serviceaccount-key-start');
    expect(await secretValues(world, 'ca')).toEqual(before);
    expect(await rotationOf(world)).toBeUndefined();
    expect(await podFlag(world, 'kube-apiserver', 'client-ca-file')).toBe('/etc/kubernetes/pki/ca.crt');
  });
});

describe('A step of a rotation', () => {
  test('waits until the tenant publishes the new CA', async () => {
    const world = await running();
    await ask(world, 'rotate-ca-start');
    await world.settle();
    expect(await rotationOf(world)).toMatchObject({ phase: 'Preparing', step: 'Trusting' });
    expect((await rotationOf(world))?.message).toContain('kube-root-ca.crt');
    const { afterMs } = await world.reconcile();
    expect(afterMs).toBeLessThanOrEqual(2_000);
    await publishAuthorities(world);
    await world.settle();
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared' });
  });

  test('waits while pods are replaced', async () => {
    const world = await running();
    world.podsStart = false;
    await ask(world, 'rotate-serviceaccount-key-start');
    await world.settle();
    expect(await rotationOf(world, 'serviceAccountKey')).toMatchObject({
      phase: 'Preparing',
      step: 'Trusting',
      message: 'pods are being replaced',
    });
    expect((await secretValues(world, 'sa-certificate'))['sa-next.key']).toBeDefined();
  });

  test('waits for the last pod without the new key, although the Deployment no longer counts it', async () => {
    const world = await running();
    const sum = (await world.deployment())?.spec?.template.metadata?.labels?.[
      componentChecksumLabel('service-account')
    ];
    await world.cluster.seed(kinds.Pod, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'leaving',
        namespace: 'default',
        labels: { 'steward.butlerlabs.dev/name': 'tenant', [componentChecksumLabel('service-account')]: sum ?? '' },
      },
    });
    await operate(world, 'rotate-serviceaccount-key-start');
    expect((await rotationOf(world, 'serviceAccountKey'))?.message).toBe('old pods are still terminating: 1');
    expect((await secretValues(world, 'sa-certificate'))['sa-next.key']).toBeDefined();
    await world.cluster.admin.delete(kinds.Pod, { namespace: 'default', name: 'leaving' });
    await settleRotation(world);
    expect(await rotationOf(world, 'serviceAccountKey')).toMatchObject({ phase: 'Prepared' });
  });

  test('waits while the tenant sleeps', async () => {
    const world = await running();
    await world.change({ spec: { controlPlane: { deployment: { replicas: 0 } } } });
    await operate(world, 'rotate-ca-start');
    expect(await rotationOf(world)).toMatchObject({ phase: 'Preparing', step: 'Trusting' });
    await world.change({ spec: { controlPlane: { deployment: { replicas: 2 } } } });
    await settleRotation(world);
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared' });
  });
});

describe('A request that cannot be fulfilled', () => {
  test.each([
    ['rotate-ca-complete', 'not Prepared: none was started'],
    ['rotate-everything', 'is not a known operation; use one of rotate-ca-start'],
  ])('%s is refused once, by an Event and a condition', async (operation, why) => {
    const world = await running();
    await operate(world, operation);
    await world.reconcile();
    expect(world.events.filter((event) => event.includes(why))).toHaveLength(1);
    expect(await world.condition('Rotating')).toMatch(/^False Refused/);
    expect(await world.condition('Rotating')).toContain(why);
    expect(await rotationOf(world)).toBeUndefined();
  });

  test('is not fulfilled later if it was an early completion', async () => {
    const world = await running();
    await ask(world, 'rotate-ca-start');
    await world.settle();
    await operate(world, 'rotate-ca-complete');
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared' });
    expect((await world.read()).status?.certificates?.rotation?.refusal).toContain('it is Preparing');
    // Requested again.
    await world.change({ metadata: { annotations: { [annotations.operation]: null } } });
    await settleRotation(world);
    await operate(world, 'rotate-ca-complete');
    expect(await rotationOf(world)).toMatchObject({ phase: 'Completed' });
  });

  test('does not affect a running rotation if it is a second start', async () => {
    const world = await running();
    await operate(world, 'rotate-ca-start');
    const before = await secretValues(world, 'ca');
    await operate(world, 'rotate-credentials-start');
    expect(await secretValues(world, 'ca')).toEqual(before);
    expect(await world.condition('Rotating')).toBe('True');
    expect((await world.read()).status?.certificates?.rotation?.refusal).toContain('while another one is Prepared');
  });
});

describe('An object that was moved to another cluster', () => {
  test('has its annotation with it, and starts nothing', async () => {
    const world = new TenantWorld();
    await world.create({ metadata: { annotations: { [annotations.operation]: 'rotate-credentials-start' } } });
    await settleRotation(world);
    expect(await rotationOf(world)).toBeUndefined();
    expect(await world.condition('Rotating')).toBe('absent');
  });

  test('continues a rotation that was Prepared', async () => {
    const world = await running();
    await operate(world, 'rotate-ca-start');
    const before = await secretValues(world, 'ca');
    await world.cluster.admin.patch(
      tenantControlPlane,
      { namespace: 'default', name: 'tenant' },
      { type: 'merge', body: { status: null } },
      { subresource: 'status' },
    );
    world.restart();
    await settleRotation(world);
    expect(await secretValues(world, 'ca')).toEqual(before);
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared' });
    await operate(world, 'rotate-ca-complete');
    expect(await rotationOf(world)).toMatchObject({ phase: 'Completed' });
  });
});

describe('A year without the completion of a rotation', () => {
  test('renews certificates from the CA that their readers trust', async () => {
    const world = await running();
    const old = (await secretValues(world, 'ca'))['ca.crt'] ?? '';
    await operate(world, 'rotate-ca-start');
    const [before, client] = [await apiServerCertificate(world), (await adminClient(world)).client.certificate];
    await world.clock.advance(364 * day);
    await settleRotation(world);
    expect(await apiServerCertificate(world)).not.toBe(before);
    expect(isTrusted(await apiServerCertificate(world), old)).toBe(true);
    const renewed = await adminClient(world);
    expect(renewed.client.certificate).not.toBe(client);
    expect(isTrusted(renewed.client.certificate, (await secretValues(world, 'ca'))['ca.crt'] ?? '')).toBe(true);
    expect(await rotationOf(world)).toMatchObject({ phase: 'Prepared' });
    await operate(world, 'rotate-ca-complete');
    expect(isTrusted(await apiServerCertificate(world), old)).toBe(false);
    expect(await world.state()).toBe('Ready');
  });
});

describe('An immediate replacement during a rotation', () => {
  test('leaves only the newest CA trusted', async () => {
    const world = await running();
    await operate(world, 'rotate-ca-start');
    const before = await secretValues(world, 'ca');
    const key = { namespace: 'default', name: 'tenant-ca' };
    const body = { metadata: { annotations: { [annotations.rotate]: '' } } };
    await world.cluster.admin.patch(kinds.Secret, key, { type: 'merge', body });
    await settleRotation(world);
    const ca = await secretValues(world, 'ca');
    expect(Object.values(before)).not.toContain(ca['ca.crt']);
    expect(ca['ca-bundle.crt']).toBe(ca['ca.crt']);
    expect(Object.keys(ca)).not.toContain('ca-previous.crt');
    await operate(world, 'rotate-ca-complete');
    expect(await rotationOf(world)).toMatchObject({ phase: 'Completed' });
    expect((await secretValues(world, 'ca'))['ca.crt']).toBe(ca['ca.crt']);
  });
});

import { X509Certificate } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { kinds } from '../../../api/core/kinds.ts';
import type { Resource } from '../../../api/meta.ts';
import { podMonitor } from '../../../api/prometheus-operator/kinds.ts';
import type { InformerFactory } from '../../../runtime/cache/informer-factory.ts';
import { emptyInformers } from '../../../testing/fake/empty-informers.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const key = { namespace: 'default', name: 'tenant' };
const settings = { labels: { release: 'prometheus' }, interval: '60s' };
const suffix = 'monitoring-certificate';

const monitorOf = (world: TenantWorld): Promise<Resource | undefined> => world.cluster.admin.get(podMonitor, key);

/** A new process of the manager, with these settings. */
async function restarted(world: TenantWorld, monitoring: TenantWorld['monitoring']): Promise<void> {
  world.monitoring = monitoring;
  world.restart();
  await world.settle();
}

async function running(
  monitoring: TenantWorld['monitoring'],
  informers: Pick<InformerFactory, 'informer'> = emptyInformers,
): Promise<TenantWorld> {
  const world = new TenantWorld({ informers: () => informers });
  await world.create();
  await restarted(world, monitoring);
  return world;
}

/** Informers of a cluster that does not have the kind. */
const withoutKind: Pick<InformerFactory, 'informer'> = {
  informer: (selection) => {
    const informer = emptyInformers.informer(selection);
    const absent = selection.kind.kind === podMonitor.kind;
    return { ...informer, health: () => ({ ...informer.health(), absent }) };
  },
};

describe('A control plane', () => {
  test('has neither PodMonitor nor certificate for Prometheus unless a flag of the manager enables them', async () => {
    const world = await running(undefined);
    expect(await monitorOf(world)).toBeUndefined();
    expect(await world.secret(suffix)).toBeUndefined();
  });

  test('has neither in a cluster without the kind PodMonitor, and is Ready nevertheless', async () => {
    const world = await running(settings, withoutKind);
    expect(await world.secret(suffix)).toBeUndefined();
    expect(await world.condition('Ready')).toBe('True');
  });

  test('has a PodMonitor with the requested labels, in its own namespace and owned by it', async () => {
    const world = await running(settings);
    const monitor = await monitorOf(world);
    expect(monitor?.metadata.labels).toMatchObject({ release: 'prometheus', 'steward.butlerlabs.dev/name': 'tenant' });
    expect(monitor?.metadata.ownerReferences?.[0]?.name).toBe('tenant');
  });

  test('gives Prometheus a client certificate in the one group that may read metrics', async () => {
    const world = await running(settings);
    const data = (await world.secret(suffix))?.data ?? {};
    const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString();
    const certificate = new X509Certificate(text('tls.crt'));
    expect(certificate.subject.split('\n').toSorted()).toEqual(['CN=steward-monitoring', 'O=system:monitoring']);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(certificate.verify(new X509Certificate(text('ca.crt')).publicKey)).toBe(true);
    expect(Object.keys(data).toSorted()).toEqual(['ca.crt', 'tls.crt', 'tls.key']);
  });

  test('keeps its certificate over reconciles, and gets a new one before it expires', async () => {
    const world = await running(settings);
    const first = (await world.secret(suffix))?.data?.['tls.crt'];
    await world.settle();
    expect((await world.secret(suffix))?.data?.['tls.crt']).toBe(first);
    await world.clock.advance(365 * 24 * 3_600_000 - 3_600_000);
    await world.settle();
    expect((await world.secret(suffix))?.data?.['tls.crt']).not.toBe(first);
  });

  test('loses both when the flag is removed, and Prometheus loses its access', async () => {
    const world = await running(settings);
    const policy = async () => JSON.stringify(await world.cluster.admin.get(kinds.NetworkPolicy, key));
    expect(await policy()).toContain('10257');
    await restarted(world, undefined);
    expect(await monitorOf(world)).toBeUndefined();
    expect(await world.secret(suffix)).toBeUndefined();
    expect(await policy()).not.toContain('10257');
    expect(await world.secret('ca')).toBeDefined();
  });
});

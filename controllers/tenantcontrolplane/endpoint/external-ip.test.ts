import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { Service } from '../../../api/core/kinds.ts';
import { parseCidr } from '../../../kubeadm/networks.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';

const asked = { networkProfile: { address: '203.0.113.7', allowAddressAsExternalIP: true } };
const reach = { externalIps: [parseCidr('203.0.113.0/24', 'test')], annotations: [] };

const service = (world: TenantWorld): Promise<Service | undefined> =>
  world.cluster.get(kinds.Service, { namespace: 'default', name: 'tenant' });

describe('An external IP that bypassed admission', () => {
  test('is not in the Service, the condition names field and flag, and everything else is done', async () => {
    const world = new TenantWorld();
    await world.create(asked);
    await world.settle();
    expect((await service(world))?.spec?.externalIPs).toBeUndefined();
    const condition = await world.condition('EndpointReady');
    expect(condition).toContain('ExternalIPNotAllowed');
    expect(condition).toContain('spec.networkProfile.allowAddressAsExternalIP "true"');
    expect(condition).toContain('--allow-external-ips=<CIDR>; the Service has no external IP');
    expect(await world.condition('ControlPlaneAvailable')).toContain('True');
  });

  test('that an older manager set is removed', async () => {
    const world = new TenantWorld({ reach });
    await world.create(asked);
    await world.settle();
    expect((await service(world))?.spec?.externalIPs).toEqual(['203.0.113.7']);
    const younger = new TenantWorld();
    await younger.create(asked);
    const before = await service(world);
    if (before?.spec === undefined) throw new Error('the Service is not there');
    // The API server chooses the cluster IP, which is never applied.
    const spec = Object.fromEntries(Object.entries(before.spec).filter(([field]) => !field.startsWith('clusterIP')));
    await younger.cluster.apply(
      kinds.Service,
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'tenant', namespace: 'default' },
        spec,
      },
      { fieldManager: 'steward' },
    );
    await younger.settle();
    expect((await service(younger))?.spec?.externalIPs).toBeUndefined();
  });
});

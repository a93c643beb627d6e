import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

test('create creates a TenantControlPlane from the command line', async () => {
  await using world = await PluginWorld.create();
  const { code, out } = await world.run(
    'create shop --kubernetes-version 1.36.3 --replicas 3 --datastore fast --service-type NodePort --cert-san a.example,b.example --cert-san c.example --port 30443 --konnectivity --wait=false',
  );
  expect({ code, out }).toEqual({ code: 0, out: 'tenantcontrolplane.steward.butlerlabs.dev/shop\n' });
  const created = await world.management.admin.get(tenantControlPlane, { namespace: 'tenants', name: 'shop' });
  expect(created?.spec).toMatchObject({
    dataStore: 'fast',
    controlPlane: { deployment: { replicas: 3 }, service: { serviceType: 'NodePort' } },
    kubernetes: { version: 'v1.36.3' },
    networkProfile: { certSANs: ['a.example', 'b.example', 'c.example'], port: 30_443 },
    addons: { coreDNS: {}, kubeProxy: {}, konnectivity: {} },
  });
});

test('create --dry-run=client -o yaml prints a manifest without a cluster', async () => {
  await using world = await PluginWorld.create({ kubeconfig: 'broken: [' });
  const { code, out } = await world.run(
    'create shop -n x --kubernetes-version 1.36.3 --no-addons --dry-run=client -o yaml',
  );
  expect(code).toBe(0);
  expect(parse(out)).toEqual({
    apiVersion: 'steward.butlerlabs.dev/v1alpha1',
    kind: 'TenantControlPlane',
    metadata: { name: 'shop', namespace: 'x' },
    spec: {
      controlPlane: { service: { serviceType: 'LoadBalancer' } },
      kubernetes: { version: 'v1.36.3' },
      networkProfile: {},
      addons: {},
    },
  });
});

test('create needs a version', async () => {
  await using world = await PluginWorld.create();
  const { code, notes } = await world.run('create shop');
  expect(notes.join()).toMatch(/required option '--kubernetes-version <version>' not specified/);
  expect(code).toBe(2);
});

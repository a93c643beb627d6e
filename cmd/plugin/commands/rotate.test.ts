import { expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionOf, pluginTime, shopTenant } from '../../../testing/builders/plugin-control-planes.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

const key = { namespace: 'tenants', name: 'shop' };

async function withSecrets(...names: readonly string[]): Promise<PluginWorld> {
  const world = await PluginWorld.create();
  await world.management.seed(tenantControlPlane, shopTenant());
  for (const name of names) {
    const metadata = { name, namespace: 'tenants', annotations: { [annotations.rotate]: pluginTime } };
    await world.management.seed(kinds.Secret, { apiVersion: 'v1', kind: 'Secret', metadata });
  }
  return world;
}

const rotated = async (world: PluginWorld): Promise<readonly string[]> =>
  (await world.management.admin.list(kinds.Secret)).items
    .filter(({ metadata }) => metadata.annotations?.[annotations.rotate] === '')
    .map(({ metadata }) => metadata.name);

/** What the manager does with the annotation of the Secret that is waited for. */
function replaces(world: PluginWorld): void {
  world.onNote = async (line) => {
    const [, name] = /^shop: waiting for (\S+)$/.exec(line) ?? [];
    if (name === undefined) return;
    const body = { metadata: { annotations: { [annotations.rotate]: pluginTime } } };
    await world.management.admin.patch(kinds.Secret, { namespace: 'tenants', name }, { type: 'merge', body });
  };
}

test('replaces everything that CAs sign, but no CA and no service-account key', async () => {
  const leaves = ['shop-admin-kubeconfig', 'shop-api-server-certificate', 'shop-konnectivity-certificate'];
  await using world = await withSecrets(...leaves, 'shop-ca', 'shop-sa-certificate', 'shop-trustd-creds');
  expect((await world.run('rotate shop --wait=false')).code).toBe(0);
  expect(await rotated(world)).toEqual(leaves);
});

test('replaces what is named, and waits until it is replaced and the control plane is Ready', async () => {
  await using world = await withSecrets('shop-admin-kubeconfig', 'shop-api-server-certificate');
  replaces(world);
  const { code, notes } = await world.run('rotate shop api-server --timeout=20s');
  expect(notes).toEqual([
    'secret/shop-api-server-certificate will be replaced',
    'shop: waiting for shop-api-server-certificate',
    'shop: 1 Secrets were replaced',
    'shop: is Ready',
  ]);
  expect(code).toBe(0);
});

test.each([
  ['rotate shop ca', /"ca" cannot be rotated by name; choose from api-server, .* For CAs and keys, use --operation/],
  ['rotate shop api-server --operation rotate-ca-start', /--operation concerns CAs and keys/],
  ['rotate shop --operation rotate-all', /Allowed choices are rotate-ca-start, /],
])('refuses "%s"', async (line, message) => {
  await using world = await withSecrets();
  const { code, notes } = await world.run(line);
  expect(notes.join()).toMatch(message);
  expect(code).toBe(2);
});

const phaseOf = (phase: string) => ({ phase, lastInitiationTime: pluginTime });

test('starts a rotation of the CAs and shows the condition until it is prepared', async () => {
  await using world = await withSecrets();
  const operation = 'rotate-ca-start';
  const preparing = conditionOf('Rotating', 'True', 'Preparing', { message: 'pods are replaced' });
  const prepared = conditionOf('Rotating', 'True', 'Prepared', { message: 'complete it' });
  const left = [
    {
      certificates: { rotation: { operation, certificateAuthorities: phaseOf('Preparing') } },
      conditions: [preparing],
    },
    { certificates: { rotation: { operation, certificateAuthorities: phaseOf('Prepared') } }, conditions: [prepared] },
  ];
  world.onNote = async (line) => {
    const status = line.startsWith('shop: ') ? left.shift() : undefined;
    if (status === undefined) return;
    const patch = { type: 'merge', body: { status } } as const;
    await world.management.admin.patch(tenantControlPlane, key, patch, { subresource: 'status' });
  };
  const { code, notes } = await world.run(`rotate shop --operation ${operation} --timeout=20s`);
  expect(notes).toEqual([
    'tenantcontrolplane.steward.butlerlabs.dev/shop: operation rotate-ca-start is requested',
    'shop: the manager has not seen the request yet',
    'shop: Preparing: pods are replaced',
    'shop: Prepared: complete it',
  ]);
  expect(code).toBe(0);
});

test('fails with the reason for which an operation is refused', async () => {
  await using world = await withSecrets();
  const operation = 'rotate-ca-complete';
  const status = { certificates: { rotation: { operation, refusal: 'it is not Prepared' } } };
  world.onNote = async (line) => {
    if (!line.startsWith('shop: ')) return;
    const patch = { type: 'merge', body: { status } } as const;
    await world.management.admin.patch(tenantControlPlane, key, patch, { subresource: 'status' });
  };
  const { code, notes } = await world.run(`rotate shop --operation ${operation} --timeout=20s`);
  expect(notes.at(-1)).toBe('kubectl steward: it is not Prepared');
  expect(code).toBe(1);
});

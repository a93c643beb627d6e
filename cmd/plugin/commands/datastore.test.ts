import { expect, test } from '@jest/globals';
import type { Manifest } from '../../../api/meta.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { conditionOf } from '../../../testing/builders/plugin-control-planes.ts';
import { PluginWorld } from '../../../testing/worlds/plugin-world.ts';

const store = (name: string, status: Readonly<Record<string, unknown>>): Manifest => ({
  apiVersion: 'steward.butlerlabs.dev/v1alpha1',
  kind: 'DataStore',
  metadata: { name },
  spec: {
    driver: 'PostgreSQL',
    endpoints: ['pg:5432'],
    basicAuth: { username: { content: 'YQ==' }, password: { content: 'YQ==' } },
  },
  status: { observedGeneration: 1, ...status },
});

const good = [conditionOf('Ready', 'True', 'Ready'), conditionOf('Reachable', 'True', 'Reachable')];

async function withStores(): Promise<PluginWorld> {
  const world = await PluginWorld.create();
  const size = { tenants: 4, availableTenants: 6, sizeBytes: 3_500_000, serverVersion: '16.4' };
  await world.management.seed(dataStore, store('fast', { conditions: good, ...size }));
  const message = 'the password is wrong';
  const bad = [
    conditionOf('Ready', 'False', 'Unauthorized', { message }),
    conditionOf('Reachable', 'True', 'Reachable'),
  ];
  await world.management.seed(dataStore, store('slow', { conditions: bad, drain: { remaining: 2, copies: 0 } }));
  return world;
}

test('ls shows driver, load and state', async () => {
  await using world = await withStores();
  const { out } = await world.run('datastore ls -o wide');
  expect(out.replaceAll(/ +\d+s +/g, ' AGE ')).toBe(
    [
      'NAME   DRIVER       VERSION   TENANTS   AVAILABLE   SIZE       READY   REASON         AGE   DRAIN',
      'fast   PostgreSQL   16.4      4         6           3.34 MiB   True    Ready AGE <none>',
      'slow   PostgreSQL   <none>    0         unlimited   <none>     False   Unauthorized AGE 2 left',
      '',
    ].join('\n'),
  );
});

test('verify shows each check and says what is wrong', async () => {
  await using world = await withStores();
  expect((await world.run('datastore verify fast')).code).toBe(0);
  const { code, out, notes } = await world.run('ds verify slow');
  expect(out).toMatch(
    /Observed +yes +the manager has seen the present spec\nReady +no +Unauthorized: the password is wrong\nReachable +yes/,
  );
  expect({ code, notes }).toEqual({
    code: 1,
    notes: ['kubectl steward: DataStore slow has conditions that need attention: Ready'],
  });
});

test('verify does not trust a report of an earlier spec', async () => {
  await using world = await withStores();
  const body = { spec: { endpoints: ['other:5432'] } };
  await world.management.admin.patch(dataStore, { name: 'fast' }, { type: 'merge', body });
  const { code, out } = await world.run('datastore verify fast -o json');
  expect(JSON.parse(out)).toMatchObject({
    checks: [{ check: 'Observed', ok: false }, { check: 'Ready', ok: true }, {}],
  });
  expect(code).toBe(1);
});

test('drain sets the spec and shows the progress', async () => {
  await using world = await withStores();
  const migrating = { tenant: 'tenants/shop', dataStoreName: 'slow', phase: 'Copying' };
  const at = { generation: 2 };
  const left = [
    {
      conditions: [conditionOf('Drained', 'False', 'Draining', { ...at, message: 'x' })],
      drain: { remaining: 2, copies: 0, migrating },
    },
    { conditions: [conditionOf('Drained', 'True', 'Drained', { ...at, message: 'none is left' })] },
  ];
  world.onNote = async (line) => {
    const status = line.startsWith('fast: ') ? left.shift() : undefined;
    if (status === undefined) return;
    const patch = { type: 'merge', body: { status } } as const;
    await world.management.admin.patch(dataStore, { name: 'fast' }, patch, { subresource: 'status' });
  };
  const { code, notes } = await world.run(
    'datastore drain fast --keep 1 --target-labels tier=cheap,zone=b --remove-copies --timeout=20s',
  );
  expect(notes).toEqual([
    'DataStore fast will be drained',
    'fast: the manager has not seen the request yet',
    'fast: 2 left; tenants/shop to slow: Copying',
    'fast: Drained: none is left',
  ]);
  expect(code).toBe(0);
  const { spec } = (await world.management.admin.get(dataStore, { name: 'fast' })) ?? {};
  expect(spec?.drain).toEqual({
    keep: 1,
    previousCopies: 'Remove',
    targetSelector: { matchLabels: { tier: 'cheap', zone: 'b' } },
  });
  expect((await world.run('datastore drain fast --end')).notes).toEqual(['DataStore fast is no longer drained']);
  expect((await world.management.admin.get(dataStore, { name: 'fast' }))?.spec.drain).toBeUndefined();
});

test.each([
  ['datastore drain fast --end --keep 1', 2],
  ['datastore drain fast --keep none', 2],
  ['datastore drain fast --target-labels tier', 2],
  ['datastore verify none', 3],
])('"%s" is refused with exit code %d', async (line, code) => {
  await using world = await withStores();
  expect((await world.run(line)).code).toBe(code);
  expect((await world.management.admin.get(dataStore, { name: 'fast' }))?.spec.drain).toBeUndefined();
});

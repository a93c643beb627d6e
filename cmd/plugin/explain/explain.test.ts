import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import { eventKind } from '../../../runtime/observe/event-recorder.ts';
import { brokenTenants, led } from '../../../testing/worlds/broken-tenants.ts';
import { TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { clusterReader } from './cluster-reader.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explanation.ts';
import type { ObjectReader } from './object-reader.ts';
import { readSituation } from './read-situation.ts';
import { renderExplanation } from './render-explanation.ts';

const own = { namespace: 'default', name: 'tenant' };

async function explained(
  world: TenantWorld,
  logs: Readonly<Record<string, string>> = {},
  changes: Partial<ObjectReader> = {},
): Promise<Explanation> {
  const reader: ObjectReader = {
    ...clusterReader(world.cluster.admin),
    log: ({ name }, container) => Promise.resolve(logs[`${name}/${container}`] ?? ''),
    ...changes,
  };
  return explain(await readSituation(reader, { ...own, now: world.clock.now() }));
}

async function running(): Promise<TenantWorld> {
  const world = new TenantWorld();
  await world.create();
  await world.settle();
  await led(world);
  return world;
}

describe('The explanation of a tenant of which', () => {
  test.each(brokenTenants)('$trouble names cause and remedy', async ({ make, logs, cause, names, remedy }) => {
    const world = await make();
    const explanation = await explained(world, logs);
    expect(explanation.cause).toMatchObject({ reason: cause, passes: false });
    expect(explanation.verdict).toBe('failed');
    expect(explanation.cause?.what).toMatch(names);
    const { remedy: text = '', commands = [] } = explanation.cause ?? {};
    expect([text, ...commands].join('\n')).toMatch(remedy);
    expect(commands.join()).not.toMatch(/[<>]/);
    const screen = renderExplanation(explanation, world.clock.now()).trimEnd().split('\n');
    expect(screen.length).toBeLessThanOrEqual(40);
    // Commands are for copying, and stay in one line.
    const wide = screen.filter((line) => line.length > 80 && !line.startsWith('  $ ') && line.trim().includes(' '));
    expect(wide).toEqual([]);
    expect(screen.join('\n')).toContain(cause);
  });
});

describe('The explanation', () => {
  test('of a tenant that is well has no cause, and every step is done', async () => {
    const world = await running();
    const explanation = await explained(world);
    expect(explanation.cause).toBeUndefined();
    expect(explanation).toMatchObject({ verdict: 'ready', serves: true, unread: [] });
    expect(explanation.steps.filter(({ state }) => state !== 'done')).toEqual([]);
    expect(renderExplanation(explanation, world.clock.now())).toContain('Ready: nothing is waited for');
  });

  test('does not say that nothing answers while nobody knows', async () => {
    const world = await running();
    await world.cluster.admin.delete(kinds.Secret, { namespace: 'default', name: 'tenant-ca' }, {});
    await world.settle();
    const explanation = await explained(world);
    expect(explanation.cause?.reason).toBe('SecretBroken');
    expect(explanation).not.toHaveProperty('serves');
    const screen = renderExplanation(explanation, world.clock.now());
    expect(screen).not.toContain('no API server answers');
    expect(screen.replaceAll(/\s+/g, ' ')).toContain('whether an API server answers is not known');
  });

  test('orders the steps by the recipe: what needs another one comes after it', async () => {
    const { steps } = await explained(await running());
    const at = (name: string): number => steps.findIndex(({ condition }) => condition === name);
    for (const { condition, needs } of steps.filter(({ condition: type }) => type !== 'StoreReady'))
      for (const need of needs) expect(`${need} ${at(need) < at(condition)}`).toBe(`${need} true`);
    expect(steps.find(({ condition }) => condition === 'TenantConfigured')?.needs).toContain('ControlPlaneAvailable');
  });

  test('reports that it waits, not that a person has to act, while pods start', async () => {
    const world = new TenantWorld();
    world.podsStart = false;
    await world.create();
    await world.settle();
    await led(world);
    const { steps, verdict, cause } = await explained(world);
    expect({ verdict, reason: cause?.reason }).toEqual({ verdict: 'waiting', reason: 'PodsStarting' });
    const stateOf = (type: string) => steps.find(({ condition }) => condition === type)?.state;
    expect([stateOf('ControlPlaneAvailable'), stateOf('AddonsReady')]).toEqual(['waiting', 'not yet']);
  });

  test('says what it could not read, and explains the rest', async () => {
    const world = await running();
    const reader = clusterReader(world.cluster.admin);
    const explanation = await explained(
      world,
      {},
      {
        read: (kind, key) =>
          kind.kind === 'Lease' ? Promise.reject(new Error('leases is forbidden')) : reader.read(kind, key),
      },
    );
    expect(explanation.verdict).toBe('ready');
    expect(explanation.unread).toEqual(['Lease: leases is forbidden']);
    expect(renderExplanation(explanation, world.clock.now())).toContain('Not read: Lease: leases is forbidden');
  });

  test('lists what happened in order, including Events', async () => {
    const world = await running();
    await world.cluster.seed(eventKind, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'default', name: 'tenant.1' },
      type: 'Warning',
      reason: 'FailedCreate',
      note: 'pods is forbidden',
      eventTime: '2031-01-01T00:00:00.000000Z',
      regarding: { kind: 'Deployment', name: 'tenant', namespace: 'default' },
    });
    const { timeline } = await explained(world);
    const times = timeline.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(timeline.at(-1)).toEqual({
      at: '2031-01-01T00:00:00.000000Z',
      from: 'Deployment tenant',
      text: 'FailedCreate: pods is forbidden',
      isWarning: true,
    });
  });
});

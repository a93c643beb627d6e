import { expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { konnectivityAddon } from '../../../testing/builders/konnectivity-addon.ts';
import { noneIfAbsent, TenantWorld } from '../../../testing/worlds/tenant-world.ts';
import { workerBootstrapAddon } from '../../../testing/builders/worker-bootstrap-addon.ts';
import { tenantKinds } from '../shared/tenant-kinds.ts';
import { ownedKinds } from '../watches.ts';
import { addons } from './registry.ts';

const named = async (cluster: TenantWorld['cluster'], among: readonly KindRef[]): Promise<readonly string[]> => {
  const all = await Promise.all(
    among.map(async (kind) => {
      const { items } = await cluster.admin.list<Resource>(kind).catch(noneIfAbsent);
      return items.map(({ metadata }) => `${kind.kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    }),
  );
  return all.flat().sort();
};

interface Sides {
  readonly inside: readonly string[];
  readonly beside: readonly string[];
  /** What pods and Service of the control plane have. */
  readonly pods: unknown;
  readonly ports: unknown;
}

async function sides(world: TenantWorld): Promise<Sides> {
  const service = await world.cluster.admin.get(kinds.Service, { namespace: 'default', name: 'tenant' });
  const { labels, ...template } = (await world.deployment())?.spec?.template.metadata ?? {};
  return {
    inside: await named(world.tenant, [...tenantKinds, kinds.Secret]),
    beside: await named(
      world.cluster,
      ownedKinds.map(({ kind }) => kind),
    ),
    // Of labels only the names: a certificate with other names has another checksum.
    pods: [Object.keys(labels ?? {}).sort(), template, (await world.deployment())?.spec?.template.spec],
    ports: service?.spec?.ports,
  };
}

/** What an author writes to have an add-on; an empty object where nothing is required. */
const minimal: Readonly<Record<string, object>> = {
  konnectivity: konnectivityAddon(),
  workerBootstrap: workerBootstrapAddon(),
};

test.each(addons)('$name is enabled and disabled twice, and leaves nothing on either side', async ({ name }) => {
  const addon = minimal[name] ?? {};
  const world = new TenantWorld();
  await world.create();
  await world.settle();
  const without = await sides(world);
  let there: Sides | undefined;
  for (let times = 0; times < 2; times += 1) {
    await world.change({ spec: { addons: { [name]: addon } } });
    await world.settle();
    const found = await sides(world);
    expect(found.inside.length).toBeGreaterThan(without.inside.length);
    expect(await world.condition('AddonsReady')).toBe('True');
    expect(found).toEqual(there ?? found);
    there = found;
    await world.change({ spec: { addons: { [name]: null } } });
    await world.settle();
    expect(await sides(world)).toEqual(without);
  }
});

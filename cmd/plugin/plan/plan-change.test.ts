import { describe, expect, test } from '@jest/globals';
import { kinds } from '../../../api/core/kinds.ts';
import type { KindRef, Resource } from '../../../api/meta.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import {
  policyKinds,
  endpointKinds,
  tenantKinds,
} from '../../../controllers/tenantcontrolplane/shared/tenant-kinds.ts';
import { addons } from '../../../controllers/tenantcontrolplane/addons/registry.ts';
import { ownedKinds } from '../../../controllers/tenantcontrolplane/watches.ts';
import { newestMinor } from '../../../kubeadm/versions.ts';
import type { FakeCluster } from '../../../testing/fake/fake-cluster.ts';
import { recordedChanges } from '../../../testing/builders/recorded-changes.ts';
import type { RecordedChange } from '../../../testing/builders/recorded-changes.ts';
import { MigrationWorld } from '../../../testing/worlds/migration-world.ts';
import { noneIfAbsent } from '../../../testing/worlds/tenant-world.ts';
import { clusterReader } from '../explain/cluster-reader.ts';
import { admitted } from './admitted.ts';
import { fieldChanges } from './field-changes.ts';
import { mergePatched } from './merge-patched.ts';
import { planChange } from './plan-change.ts';
import type { Plan } from './plan-result.ts';
import type { PlanSettings } from './plan-settings.ts';

const own = { namespace: 'default', name: 'tenant' };
const inTenant: readonly KindRef[] = [
  ...new Map(
    [...tenantKinds, ...policyKinds, ...endpointKinds, ...addons.flatMap(({ inside }) => inside.kinds)].map((kind) => [
      `${kind.group}/${kind.kind}`,
      kind,
    ]),
  ).values(),
];

type State = ReadonlyMap<string, Resource>;

async function stateOf(cluster: FakeCluster, where: string, all: readonly KindRef[]): Promise<State> {
  const lists = await Promise.all(
    all.map(async (kind) => {
      const { items } = await cluster.admin.list<Resource>(kind).catch(noneIfAbsent);
      return items.map(
        (item) => [`${where} ${kind.kind} ${item.metadata.namespace ?? ''}/${item.metadata.name}`, item] as const,
      );
    }),
  );
  return new Map(lists.flat());
}

async function wholeState(world: MigrationWorld): Promise<State> {
  return new Map([
    ...(await stateOf(world.cluster, 'management cluster', [...ownedKinds.map(({ kind }) => kind), kinds.Job])),
    ...(await stateOf(world.tenant, 'tenant', inTenant)),
  ]);
}

/** What really became of the objects: action, place, kind and name, and which fields. */
function whatChanged(before: State, after: State): readonly string[] {
  const lines = [...new Set([...before.keys(), ...after.keys()])].flatMap((id) => {
    const [old, now] = [before.get(id), after.get(id)];
    if (old === undefined) return [`create ${id}`];
    if (now === undefined) return [`delete ${id}`];
    const fields = fieldChanges(old, now);
    return fields.length === 0
      ? []
      : [
          `change ${id}: ${fields
            .map(({ field }) => field)
            .sort()
            .join(' ')}`,
        ];
  });
  return lines.sort();
}

function whatIsPlanned({ objects }: Plan): readonly string[] {
  return objects
    .map(({ action, where, kind, namespace = '', name, fields }) => {
      const of =
        fields.length === 0
          ? ''
          : `: ${fields
              .map(({ field }) => field)
              .sort()
              .join(' ')}`;
      return `${action} ${where} ${kind} ${namespace}/${name}${of}`;
    })
    .sort();
}

/** The text without the node port that an API server chooses, and that a plan has a stand-in for. */
const withoutChoice = (text: string): string => text.replaceAll(/30000|31234/g, 'chosen');

/** Lets everything happen that happens with time. */
async function settle(world: MigrationWorld): Promise<void> {
  const migrating = async (): Promise<boolean> => {
    const { finishedAt, startedAt } = (await world.read()).status?.storage?.migration ?? {};
    return startedAt !== undefined && finishedAt === undefined;
  };
  await world.reconcile();
  if (await migrating()) await world.migrate();
  for (let step = 0; step < 4; step += 1) {
    await world.settle();
    await world.clock.advance(60_000);
  }
  await world.settle();
}

const settingsOf = (world: MigrationWorld): PlanSettings => ({
  managerNamespace: 'steward-system',
  drivers: [world.store.driver, world.target.driver],
  defaultDataStore: '',
  newestMinor,
});

/** A tenant at rest, as the webhooks admitted it. */
async function before({ from, kubelets = [] }: Pick<RecordedChange, 'from' | 'kubelets'>): Promise<MigrationWorld> {
  const world = new MigrationWorld();
  await world.cluster.seed(kinds.Node, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node' },
    status: { addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] },
  });
  await world.addStoreBeside('events');
  world.kubelets = kubelets;
  const made = await world.create(from);
  const answer = await admitted(made, undefined, { cluster: world.cluster.admin, settings: settingsOf(world) });
  if (answer.is === 'refused') throw new Error(answer.message);
  await world.change({ spec: answer.object.spec });
  await settle(world);
  return world;
}

async function readTenant(world: MigrationWorld): Promise<TenantControlPlane> {
  const found = await world.cluster.admin.get(tenantControlPlane, own);
  if (found === undefined) throw new Error('there is no TenantControlPlane');
  return found;
}

/** What the plan is of: what it says, and what `expects` stands for. */
function outcomeOf({ refused, pods, version, waits, objects }: Plan): RecordedChange['expects'] {
  if (refused !== undefined) return 'refusal';
  if (version.heldBy !== undefined) return 'hold';
  if (waits.length > 0) return 'wait';
  if (pods.action !== 'none') return pods.action;
  return objects.length > 0 ? 'objects' : 'nothing';
}

describe('A plan predicts what comes of', () => {
  test.each(recordedChanges)('$change', async (recorded) => {
    const world = await before(recorded);
    const settings = settingsOf(world);
    const current = await readTenant(world);
    const changed = mergePatched(current, recorded.body) as TenantControlPlane;
    const untouched = await world.writes();
    const plan = await planChange({
      reader: clusterReader(world.cluster.admin),
      settings,
      now: world.clock.now(),
      changed,
      tenant: { nodes: world.nodePage('/api/v1/nodes'), metrics: '' },
    });
    expect(await world.writes()).toBe(untouched);
    expect(outcomeOf(plan)).toBe(recorded.expects);

    const answer = await admitted(changed, current, { cluster: world.cluster.admin, settings });
    expect(plan.refused).toBe(answer.is === 'refused' ? answer.message : undefined);
    if (answer.is === 'refused') return;
    const [state, pods] = [await wholeState(world), (await world.deployment())?.spec];
    const { labels, annotations } = answer.object.metadata;
    const spec = Object.fromEntries([...Object.keys(current.spec)].map((key) => [key, null]));
    await world.change({ spec });
    await world.change({ metadata: { labels, annotations }, spec: answer.object.spec });
    await settle(world);

    const happened = whatChanged(state, await wholeState(world));
    expect(whatIsPlanned(plan).map(withoutChoice)).toEqual(happened.map(withoutChoice));
    const now = (await world.deployment())?.spec;
    const [from, to] = [pods?.replicas ?? 0, now?.replicas ?? 0];
    expect([plan.pods.from, plan.pods.to]).toEqual([from, to]);
    const isReplaced = JSON.stringify(pods?.template) !== JSON.stringify(now?.template) && from > 0 && to > 0;
    expect(plan.pods.action === 'restart').toBe(isReplaced);
    const running = (await readTenant(world)).status?.kubernetesResources?.version?.version;
    const paused = annotations?.['steward.butlerlabs.dev/paused'] !== undefined;
    if (!paused) expect(plan.version.heldBy === undefined ? plan.version.to : plan.version.from).toBe(running);
  });
});

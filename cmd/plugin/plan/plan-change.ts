import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { DraftOf, Key } from '../../../api/meta.ts';
import { tenantObjects } from '../../../api/names.ts';
import { tenantControlPlaneConditions } from '../../../api/steward/v1alpha1/condition-rows.ts';
import { isUnderWay } from '../../../api/steward/v1alpha1/share-in-use.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { admitted } from './admitted.ts';
import { endMigration } from './end-migration.ts';
import { fieldChanges } from './field-changes.ts';
import type { FieldChange } from './field-changes.ts';
import type { Plan, PlannedVersion, PlannedWait } from './plan-result.ts';
import type { Contents } from './planned-cluster.ts';
import { plannedObjects } from './planned-objects.ts';
import { plannedPods } from './planned-pods.ts';
import { PlannedWorld } from './planned-world.ts';
import type { PlannedWorldOptions } from './planned-world.ts';

/** A change of a TenantControlPlane, or a new one. */
export interface PlanInput extends PlannedWorldOptions {
  /** The object as it is to be, before defaults; a field that it lacks is removed. */
  readonly changed: DraftOf<TenantControlPlane>;
}

type Row = (typeof tenantControlPlaneConditions)[keyof typeof tenantControlPlaneConditions];

/** Conditions that summarize others, or that only report what is healthy. */
const summaries: ReadonlySet<string> = new Set(['Ready', 'Placed']);

/** Reasons that add nothing of their own: they follow another condition, or the spec requests them. */
const follows: ReadonlySet<string> = new Set(['Blocked', 'Sleeping']);

/** Conditions that are not healthy after the change, and were before or were otherwise. */
function waitsOf(before: TenantControlPlane | undefined, after: TenantControlPlane): readonly PlannedWait[] {
  const rows: Readonly<Record<string, Row>> = tenantControlPlaneConditions;
  const old = before?.status?.conditions ?? [];
  return (after.status?.conditions ?? []).flatMap(({ type, status, reason, message }) => {
    if (summaries.has(type) || follows.has(reason)) return [];
    if (status !== (rows[type]?.polarity === 'negative' ? 'True' : 'False')) return [];
    const then = old.find((condition) => condition.type === type);
    if (then?.status === status && then.reason === reason && then.message === message) return [];
    return [{ condition: type, reason, message }];
  });
}

function versionOf(
  before: TenantControlPlane | undefined,
  after: TenantControlPlane,
  isAsked: boolean,
): PlannedVersion {
  const from = before?.status?.kubernetesResources?.version?.version;
  const to = after.spec.kubernetes.version;
  const hold = after.status?.conditions?.find(({ type, status }) => type === 'UpgradeAllowed' && status === 'False');
  const isChanged = from !== undefined && from !== to;
  return {
    ...(from !== undefined && { from }),
    to,
    ...(isChanged && hold !== undefined && { heldBy: { reason: hold.reason, message: hold.message } }),
    unchecked: isChanged && !isAsked ? ['the kubelets of the nodes', 'the APIs that clients use'] : [],
  };
}

/** The stored object after the change. */
function changedObject(current: TenantControlPlane, next: TenantControlPlane): TenantControlPlane {
  const { labels, annotations } = next.metadata;
  const { generation } = current.metadata;
  const isNew = fieldChanges({ spec: current.spec }, { spec: next.spec }).length > 0;
  return {
    ...current,
    spec: next.spec,
    metadata: { ...current.metadata, labels, annotations, generation: isNew ? generation + 1 : generation },
  };
}

/** What a person changes: spec, labels and annotations. */
function changeOf(before: TenantControlPlane | undefined, after: TenantControlPlane): readonly FieldChange[] {
  const part = (object: TenantControlPlane | undefined): object => ({
    metadata: { labels: object?.metadata.labels ?? {}, annotations: object?.metadata.annotations ?? {} },
    spec: object?.spec ?? {},
  });
  return fieldChanges(part(before), part(after));
}

/**
 * What a change of a TenantControlPlane would do. The controller itself reconciles in a copy of what it reads: first the object as it is,
 * then as it is to be. The plan is the difference. Nothing is written anywhere else.
 */
export async function planChange(input: PlanInput): Promise<Plan> {
  const world = new PlannedWorld(input);
  await world.begin();
  return planIn(world, input);
}

/** The state of a world between two steps of a plan. */
interface Snapshot {
  readonly tcp: TenantControlPlane | undefined;
  readonly deployment: Deployment | undefined;
  readonly management: Contents;
  readonly tenant: Contents;
}

async function snapshot(world: PlannedWorld, key: Key): Promise<Snapshot> {
  const deploymentKey = { ...key, name: tenantObjects(key.name).deployment };
  return {
    tcp: await world.read(key),
    deployment: await world.management.get(kinds.Deployment, deploymentKey),
    management: world.management.contents(),
    tenant: world.tenant.contents(),
  };
}

/** Ends a migration that the change has started. Returns what a person should know about it. */
async function afterMigration(
  world: PlannedWorld,
  key: Key,
  { before, managerNamespace }: { readonly before: Snapshot; readonly managerNamespace: string },
): Promise<readonly string[]> {
  const record = (await world.read(key))?.status?.storage?.migration;
  if (record === undefined || !isUnderWay(record) || isUnderWay(before.tcp?.status?.storage?.migration)) return [];
  await endMigration(world, key, managerNamespace);
  await world.settle(key);
  const [from, to] = [record.source.dataStoreName, record.target.dataStoreName];
  return [`the data is migrated from DataStore ${from} to ${to} first; what is planned is the state after that`];
}

const nothing = { action: 'none', from: 0, to: 0, reasons: [] } as const;

/** The same in a world in which something was planned before. */
export async function planIn(world: PlannedWorld, input: PlanInput): Promise<Plan> {
  const { changed, settings, tenant } = input;
  const { namespace = 'default', name = '' } = changed.metadata;
  const key = { namespace, name };
  const current = await world.read(key);
  const answer = await admitted(changed, current, { cluster: world.management, settings });
  const head = { kind: tenantControlPlane.kind, namespace, name, warnings: answer.warnings };
  if (answer.is === 'refused') {
    const version = { to: changed.spec.kubernetes.version, unchecked: [] };
    const none = { change: [], objects: [], pods: nothing, version, waits: [], notes: [] };
    return { ...head, refused: answer.message, ...none };
  }
  const isRolling = current !== undefined && (await world.endRollout(key));
  if (current !== undefined) await world.settle(key);
  const before = await snapshot(world, key);
  if (before.tcp === undefined) await world.management.create(tenantControlPlane, { ...answer.object });
  else await world.management.put(tenantControlPlane, changedObject(before.tcp, answer.object));
  await world.settle(key);
  const migrated = await afterMigration(world, key, { before, managerNamespace: settings.managerNamespace });
  const after = await snapshot(world, key);
  if (after.tcp === undefined) throw new Error('the object is gone from the plan');
  return {
    ...head,
    change: changeOf(current, after.tcp),
    objects: [
      ...plannedObjects('management cluster', before.management, after.management),
      ...plannedObjects('tenant', before.tenant, after.tenant),
    ],
    pods: plannedPods(before.deployment, after.deployment),
    version: versionOf(before.tcp, after.tcp, tenant !== undefined),
    waits: waitsOf(before.tcp, after.tcp),
    notes: [...(isRolling ? ['a rollout is under way; what is planned begins after it'] : []), ...migrated],
  };
}

import { labels } from '../../api/names.ts';
import type { Key, KindRef, Manifest, Resource } from '../../api/meta.ts';
import { checksum } from '../../kubeadm/pki/checksum.ts';
import { Applier } from '../../runtime/applier.ts';
import { mark } from '../../runtime/apply-marks.ts';
import type { ApplySet } from '../../runtime/apply-set.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { Connection } from '../../runtime/connection.ts';
import type { Context } from '../../runtime/controller.ts';
import { ApiError } from '../../runtime/errors.ts';
import { parseKubeconfig } from '../../runtime/kubeconfig.ts';
import type { ObjectMemory } from '../../runtime/object-memory.ts';
import { ObjectSlot } from '../../runtime/object-slot.ts';
import { ChangeAlarm } from '../../tenants/change-alarm.ts';
import type { AlarmSelection } from '../../tenants/change-alarm.ts';
import type { TenantPool } from '../../tenants/pool.ts';
import type { TenantWatches } from '../../tenants/tenant-watches.ts';
import { tenancyOwner } from './components/tenancy.ts';
import { fieldManager } from './dependencies.ts';
import type { TenantAccess, TenantSet } from './dependencies.ts';
import { needed } from './scope.ts';
import type { Scope } from './scope.ts';
import { withTheirReplicas } from './their-replicas.ts';

export interface TenantDoorsOptions {
  readonly pool: TenantPool;
  /** The kinds of what is applied inside tenants. */
  readonly kinds: readonly KindRef[];
  readonly clock: Clock;
  readonly memory: ObjectMemory;
  /** Asks for a visit to a TenantControlPlane; nobody hears of what is new in tenants unless said. */
  readonly poke?: (key: Key) => void;
  /** Hears foreign edits; without it they are found by looking again. */
  readonly watches?: TenantWatches;
}

/**
 * A tenant is visited after this many milliseconds at the latest; where nobody listens to it, what is in it is applied again then,
 * so that what its administrators broke comes back.
 */
export const recheckMs = 15 * 60_000;

/** The same where foreign edits are heard, in case that one was missed. */
const heardRecheckMs = 4 * 60 * 60_000;

/** What was applied last, and when. */
interface Done {
  readonly checksum: string;
  readonly at: number;
}

/** The annotation that tells whose set an object inside a tenant is; an owner reference would not reach there. */
const ownerAnnotation = labels.owner;

/** Enters tenants by their own kubeconfig, through the cluster address of their Service. */
export function tenantDoors(options: TenantDoorsOptions): TenantAccess {
  const { pool, poke, watches } = options;
  const alarm = new ChangeAlarm(options.clock, options.memory);
  const done = options.memory.slot<Map<string, Done>>('applied inside tenants');
  const appliers = options.memory.slot<{ readonly cluster: Cluster; readonly applier: Applier }>('appliers in tenants');

  /** The name in the certificate is verified all the same; only the look-up is saved. */
  const connectionAt = (scope: Readonly<Scope>, host: string | undefined): Connection => {
    const connection = parseKubeconfig(needed(scope.operatorKubeconfig, 'operatorKubeconfig'));
    const { port } = needed(scope.endpoint, 'endpoint');
    const dial = host === undefined || host === 'None' ? undefined : { host, port };
    return { ...connection, ...(dial !== undefined && { dial }) };
  };

  const connectionOf = (scope: Readonly<Scope>): Connection =>
    connectionAt(scope, needed(scope.service, 'service').spec?.clusterIP);

  const door = (scope: Readonly<Scope>): Cluster => pool.borrow(scope.tcp.metadata.uid ?? '', connectionOf(scope));

  const marking = { by: 'annotation', componentLabel: labels.component, annotation: ownerAnnotation } as const;
  const kindOf = new Map(options.kinds.map((kind) => [kind.kind, kind]));

  /** Makes what is missing; what is there is somebody's own. */
  const createMissing = async (cluster: Cluster, set: ApplySet, manifest: Manifest, ctx: Context): Promise<void> => {
    const kind = kindOf.get(manifest.kind);
    if (kind === undefined) throw new Error(`${manifest.kind} is not among the kinds of tenants`);
    try {
      await cluster.create(kind, mark(manifest, set, marking), { fieldManager, signal: ctx.signal });
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 409) throw error;
    }
  };

  const applyBare = async (cluster: Cluster, manifest: Manifest, { signal }: Context): Promise<Resource> => {
    const kind = needed(kindOf.get(manifest.kind), manifest.kind);
    return cluster.apply<Resource>(kind, manifest, { fieldManager, signal });
  };

  const applierOf = (uid: string, cluster: Cluster): Applier => {
    const known = appliers.get(uid);
    if (known?.cluster === cluster) return known.applier;
    const applier = new Applier({ cluster, fieldManager, marking, kinds: options.kinds, memory: new ObjectSlot() });
    appliers.set(uid, { cluster, applier });
    return applier;
  };

  const recheckAfter = (uid: string): number => (watches?.hears(uid) === true ? heardRecheckMs : recheckMs);

  const applySet = async (
    scope: Readonly<Scope>,
    { set, cluster }: { readonly set: TenantSet; readonly cluster: Cluster },
    ctx: Context,
  ): Promise<readonly Resource[]> => {
    const { component, manifests, prunes, createOnly = [], isBare = false } = set;
    if (isBare) return Promise.all(manifests.map((manifest) => applyBare(cluster, manifest, ctx)));
    const wanted = set.theirReplicas === true ? await withTheirReplicas(cluster, manifests, ctx) : manifests;
    // Inside the tenant marks outlive the object here: they are those of whose data it is.
    const owner = { ...scope.tcp, metadata: { ...scope.tcp.metadata, uid: tenancyOwner(scope.tcp) } };
    const owned: ApplySet = { owner, component, manifests: wanted, prunes };
    const [report] = await Promise.all([
      applierOf(scope.tcp.metadata.uid ?? '', cluster).apply(owned, { signal: ctx.signal }),
      ...createOnly.map((manifest) => createMissing(cluster, owned, manifest, ctx)),
    ]);
    return report.applied;
  };

  /** Has the tenant visited, and the named components applied anew. */
  const repair = (uid: string, key: Key, components: readonly string[]): void => {
    for (const component of components) done.get(uid)?.delete(component);
    poke?.(key);
  };

  /** Applies a set, and listens from then on to what others do to it. */
  const heard = async (
    scope: Readonly<Scope>,
    { set, connection }: { readonly set: TenantSet; readonly connection: Connection },
    apply: () => Promise<readonly Resource[]>,
  ): Promise<void> => {
    const { uid = '', namespace = '', name = '' } = scope.tcp.metadata;
    const { component, createOnly = [] } = set;
    const ring = (components: readonly string[]): void => {
      repair(uid, { namespace, name }, components);
    };
    watches?.applying(uid, component, { connection, ring });
    try {
      const applied = await apply();
      const owned: ApplySet = { owner: scope.tcp, component, manifests: set.manifests, prunes: [] };
      const manifests = set.isBare === true ? set.manifests : owned.manifests.map((one) => mark(one, owned, marking));
      const kind = (object: Resource): KindRef => needed(kindOf.get(object.kind), object.kind);
      watches?.applied(uid, { component, manifests, applied, createOnly, kindOf: kind }, connection);
    } catch (error) {
      watches?.failed(uid, component);
      throw error;
    }
  };

  return {
    door,
    async atPod<T>(scope: Readonly<Scope>, podIp: string, work: (door: Cluster) => Promise<T>): Promise<T> {
      const key = `${scope.tcp.metadata.uid ?? ''}/${podIp}`;
      try {
        return await work(pool.borrow(key, connectionAt(scope, podIp)));
      } finally {
        await pool.leave(key);
      }
    },
    async apply(scope: Readonly<Scope>, set: TenantSet, ctx: Context): Promise<void> {
      const uid = scope.tcp.metadata.uid ?? '';
      const before = done.get(uid)?.get(set.component);
      const wanted = checksum({
        set: JSON.stringify([set.manifests, set.createOnly]),
        door: scope.operatorKubeconfig ?? '',
      });
      const now = ctx.now.getTime();
      const isKnown = before?.checksum === wanted && now - before.at < recheckAfter(uid);
      if (isKnown && set.isOverdue !== true) {
        watches?.wake(uid);
        return;
      }
      const connection = connectionOf(scope);
      await heard(scope, { set, connection }, () =>
        applySet(scope, { set, cluster: pool.borrow(uid, connection) }, ctx),
      );
      done.getOrMake(uid, () => new Map<string, Done>()).set(set.component, { checksum: wanted, at: now });
    },
    leave({ tcp }: Readonly<Scope>, component: string): void {
      const { uid = '' } = tcp.metadata;
      done.get(uid)?.delete(component);
      watches?.left(uid, component);
    },
    wakeOn(scope: Readonly<Scope>, selection: AlarmSelection): void {
      if (poke === undefined) return;
      const { uid = '', namespace = '', name = '' } = scope.tcp.metadata;
      const ring = (): void => {
        poke({ namespace, name });
      };
      const cluster = door(scope);
      alarm.arm(uid, cluster, { selection, ring, ended: pool.hold(uid) });
    },
    sleepOn(uid: string): void {
      alarm.disarm(uid);
    },
    async close(uid: string): Promise<void> {
      alarm.disarm(uid);
      watches?.leave(uid);
      appliers.delete(uid);
      done.delete(uid);
      await pool.leave(uid);
    },
  };
}

import { labels } from '../../../api/names.ts';
import type { Draft, Key, KindRef, Manifest, Resource } from '../../../api/meta.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import { Applier } from '../../../runtime/apply/applier.ts';
import { mark } from '../../../runtime/apply/apply-marks.ts';
import type { ApplySet } from '../../../runtime/apply/apply-set.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { isAlreadyExists } from '../../../runtime/client/is-already-exists.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import { ChangeAlarm } from '../../../tenants/change-alarm.ts';
import type { AlarmSelection } from '../../../tenants/change-alarm.ts';
import type { TenantPool } from '../../../tenants/pool.ts';
import type { ProbedServer } from '../../../tenants/probe.ts';
import type { TenantProber } from '../../../tenants/prober.ts';
import type { TenantWatches } from '../../../tenants/tenant-watches.ts';
import { tenancyOwner } from '../datastore/tenancy.ts';
import { fieldManager } from '../dependencies.ts';
import type { TenantAccess, TenantSet } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { probeTarget } from './probe-target.ts';
import type { ProbedKubeconfig } from './probe-target.ts';
import { withPreservedReplicas } from '../shared/preserve-replicas.ts';
import { policyKinds } from '../shared/tenant-kinds.ts';

export interface TenantAccessOptions {
  readonly pool: TenantPool;
  /** The kinds that are applied inside tenants. */
  readonly kinds: readonly KindRef[];
  readonly clock: Clock;
  readonly memory: ObjectMemory;
  /** Enqueues a TenantControlPlane; without it, new objects in tenants enqueue nothing. */
  readonly enqueue?: (key: Key) => void;
  /** Reports drift; without it, drift is found by periodic checks. */
  readonly watches?: TenantWatches;
  /** Probes API servers; without it, none is probed. */
  readonly prober?: Pick<TenantProber, 'watch' | 'stop'>;
}

/**
 * A tenant is reconciled after this many milliseconds at the latest; if its drift is not watched, its objects are applied again
 * then, so that changes of its administrators are reverted.
 */
export const recheckMs = 15 * 60_000;

/** The same for tenants whose drift is watched, in case a change was missed. */
const watchedRecheckMs = 4 * 60 * 60_000;

/** What was applied last, and when. */
interface Done {
  readonly checksum: string;
  readonly at: number;
}

/** The annotation that marks the owner of an object inside a tenant, where an owner reference would not work. */
const ownerAnnotation = labels.owner;

/** Without the credentials: a probe sends none. */
function probed({ kubeconfig, dial }: ProbedKubeconfig): ProbedServer {
  const { server, ca, tlsServerName } = parseKubeconfig(kubeconfig);
  return { server, ca, tlsServerName, dial };
}

/** Access to tenants with their own kubeconfig, through the cluster IP of their Service. */
export function tenantAccess(options: TenantAccessOptions): TenantAccess {
  const { pool, enqueue, watches, prober } = options;
  const alarm = new ChangeAlarm(options.clock, options.memory);
  const done = options.memory.slot<Map<string, Done>>('applied inside tenants');
  const appliers = options.memory.slot<{ readonly cluster: Cluster; readonly applier: Applier }>('appliers in tenants');

  /** The name in the certificate is verified all the same; only the DNS look-up is saved. */
  const connectionAt = (scope: Readonly<Scope>, host: string | undefined): Connection => {
    const connection = parseKubeconfig(needed(scope.operatorKubeconfig, 'operatorKubeconfig'));
    const { port } = needed(scope.endpoint, 'endpoint');
    const dial = host === undefined || host === 'None' ? undefined : { host, port };
    return { ...connection, ...(dial !== undefined && { dial }) };
  };

  const connectionOf = (scope: Readonly<Scope>): Connection =>
    connectionAt(scope, needed(scope.service, 'service').spec?.clusterIP);

  const client = (scope: Readonly<Scope>): Cluster => pool.borrow(scope.tcp.metadata.uid, connectionOf(scope));

  const marking = { by: 'annotation', componentLabel: labels.component, annotation: ownerAnnotation } as const;
  const kindOf = new Map(options.kinds.map((kind) => [kind.kind, kind]));

  /** Creates a missing object; an existing one belongs to the tenant's administrators. */
  const createMissing = async (cluster: Cluster, set: ApplySet, manifest: Manifest, ctx: Context): Promise<void> => {
    const kind = kindOf.get(manifest.kind);
    if (kind === undefined) throw new Error(`${manifest.kind} is not one of the kinds that are applied inside tenants`);
    try {
      await cluster.create(kind, mark(manifest, set, marking), { fieldManager, signal: ctx.signal });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  };

  const applyBare = async (cluster: Cluster, manifest: Manifest, { signal }: Context): Promise<Resource> => {
    const kind = needed(kindOf.get(manifest.kind), manifest.kind);
    return cluster.apply<Resource>(kind, manifest, { fieldManager, signal });
  };

  const applierOf = (uid: string, cluster: Cluster): Applier => {
    const known = appliers.get(uid);
    if (known?.cluster === cluster) return known.applier;
    const applier = new Applier({
      ...{ cluster, fieldManager, marking, kinds: options.kinds, memory: new ObjectSlot() },
      // Administrators of the tenant could add a condition to a policy with which it never applies.
      exact: policyKinds,
    });
    appliers.set(uid, { cluster, applier });
    return applier;
  };

  const recheckAfter = (uid: string): number => (watches?.isComplete(uid) === true ? watchedRecheckMs : recheckMs);

  const applySet = async (
    scope: Readonly<Scope>,
    { set, cluster }: { readonly set: TenantSet; readonly cluster: Cluster },
    ctx: Context,
  ): Promise<readonly Resource[]> => {
    const { component, manifests, prunes, createOnly = [], isBare = false } = set;
    if (isBare) return Promise.all(manifests.map((manifest) => applyBare(cluster, manifest, ctx)));
    const wanted = set.preservedReplicas === true ? await withPreservedReplicas(cluster, manifests, ctx) : manifests;
    // The marks inside the tenant outlive the object here, so they name the owner of the data.
    const owner = { ...scope.tcp, metadata: { ...scope.tcp.metadata, uid: tenancyOwner(scope.tcp) } };
    const owned: ApplySet = { owner, component, manifests: wanted, prunes };
    const [report] = await Promise.all([
      applierOf(scope.tcp.metadata.uid, cluster).apply(owned, { signal: ctx.signal }),
      ...createOnly.map((manifest) => createMissing(cluster, owned, manifest, ctx)),
    ]);
    return report.applied;
  };

  /** Enqueues the tenant, and has the named components applied again. */
  const repair = (uid: string, key: Key, components: readonly string[]): void => {
    for (const component of components) done.get(uid)?.delete(component);
    enqueue?.(key);
  };

  /** Applies a set, and watches it for drift from then on. */
  const applyWatched = async (
    scope: Readonly<Scope>,
    { set, connection }: { readonly set: TenantSet; readonly connection: Connection },
    apply: () => Promise<readonly Resource[]>,
  ): Promise<void> => {
    const { uid, namespace, name } = scope.tcp.metadata;
    const { component, createOnly = [] } = set;
    const notify = (components: readonly string[]): void => {
      repair(uid, { namespace, name }, components);
    };
    watches?.applying(uid, component, { connection, notify });
    try {
      const applied = await apply();
      const owned: ApplySet = { owner: scope.tcp, component, manifests: set.manifests, prunes: [] };
      const manifests = set.isBare === true ? set.manifests : owned.manifests.map((one) => mark(one, owned, marking));
      const kind = (object: Draft): KindRef => needed(kindOf.get(object.kind), object.kind);
      watches?.applied(uid, { component, manifests, applied, createOnly, kindOf: kind }, connection);
    } catch (error) {
      watches?.failed(uid, component);
      throw error;
    }
  };

  return {
    client,
    async atPod<T>(scope: Readonly<Scope>, podIp: string, work: (client: Cluster) => Promise<T>): Promise<T> {
      const key = `${scope.tcp.metadata.uid}/${podIp}`;
      try {
        return await work(pool.borrow(key, connectionAt(scope, podIp)));
      } finally {
        await pool.leave(key);
      }
    },
    async apply(scope: Readonly<Scope>, set: TenantSet, ctx: Context): Promise<void> {
      const uid = scope.tcp.metadata.uid;
      const before = done.get(uid)?.get(set.component);
      const wanted = checksum({
        set: JSON.stringify([set.manifests, set.createOnly]),
        client: scope.operatorKubeconfig ?? '',
      });
      const now = ctx.now.getTime();
      const isKnown = before?.checksum === wanted && now - before.at < recheckAfter(uid);
      if (isKnown && set.isOverdue !== true) {
        watches?.wake(uid);
        return;
      }
      const connection = connectionOf(scope);
      await applyWatched(scope, { set, connection }, () =>
        applySet(scope, { set, cluster: pool.borrow(uid, connection) }, ctx),
      );
      done.getOrMake(uid, () => new Map<string, Done>()).set(set.component, { checksum: wanted, at: now });
    },
    leave({ tcp }: Readonly<Scope>, component: string): void {
      const { uid } = tcp.metadata;
      done.get(uid)?.delete(component);
      watches?.left(uid, component);
    },
    wakeOn(scope: Readonly<Scope>, selection: AlarmSelection): void {
      if (enqueue === undefined) return;
      const { uid, namespace, name } = scope.tcp.metadata;
      const notify = (): void => {
        enqueue({ namespace, name });
      };
      const cluster = client(scope);
      alarm.arm(uid, cluster, { selection, notify, ended: pool.hold(uid) });
    },
    sleepOn(uid: string): void {
      alarm.disarm(uid);
    },
    probe(scope: Readonly<Scope>): void {
      const { uid } = scope.tcp.metadata;
      const target = prober === undefined ? 'unchanged' : probeTarget(scope);
      if (target === 'stop') prober?.stop(uid);
      else if (target !== 'unchanged')
        prober?.watch(uid, { service: probed(target.service), endpoint: probed(target.endpoint) });
    },
    async close(uid: string): Promise<void> {
      alarm.disarm(uid);
      prober?.stop(uid);
      watches?.leave(uid);
      appliers.delete(uid);
      done.delete(uid);
      await pool.leave(uid);
    },
  };
}

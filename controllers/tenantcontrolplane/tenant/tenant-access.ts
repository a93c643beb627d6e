import { kinds } from '../../../api/core/kinds.ts';
import { labels } from '../../../api/names.ts';
import type { Draft, Key, KindRef, Manifest, Resource } from '../../../api/meta.ts';
import { checksum } from '../../../kubeadm/pki/checksum.ts';
import { isAlreadyApplied } from '../../../runtime/apply/already-applied.ts';
import { Applier } from '../../../runtime/apply/applier.ts';
import { mark } from '../../../runtime/apply/apply-marks.ts';
import type { ApplySet } from '../../../runtime/apply/apply-set.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import type { Connection } from '../../../runtime/client/connection.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import { createIfAbsent } from '../../../runtime/client/create-if-absent.ts';
import { parseKubeconfig } from '../../../runtime/client/kubeconfig.ts';
import type { ObjectMemory } from '../../../runtime/cache/object-memory.ts';
import { keyOf } from '../../../runtime/cache/object-id.ts';
import { ObjectSlot } from '../../../runtime/cache/object-slot.ts';
import { ChangeAlarm } from '../../../tenants/change-alarm.ts';
import type { AlarmSelection } from '../../../tenants/change-alarm.ts';
import type { TenantPool } from '../../../tenants/pool.ts';
import type { ProbedServer } from '../../../tenants/probe.ts';
import type { TenantProber } from '../../../tenants/prober.ts';
import type { UseMeter } from '../../../tenants/use/use-meter.ts';
import type { TenantWatches } from '../../../tenants/tenant-watches.ts';
import { tenancyOwner } from '../datastore/tenancy.ts';
import { fieldManager } from '../dependencies.ts';
import type { TenantAccess, TenantSet } from '../dependencies.ts';
import { needed } from '../scope.ts';
import type { Scope } from '../scope.ts';
import { meteredUse } from './metered-use.ts';
import { lacksReadyPods, probeTarget } from './probe-target.ts';
import type { ProbedKubeconfig } from './probe-target.ts';
import { podSelectorText } from '../shared/pod-selector.ts';
import { withPreservedReplicas } from '../shared/preserve-replicas.ts';
import type { Scalable } from '../shared/preserve-replicas.ts';
import { readTenant } from './read-tenant.ts';
import { usedServers } from './used-servers.ts';
import type { ReadInTenant } from './read-tenant.ts';
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
  readonly prober?: Pick<TenantProber, 'watch' | 'doubt' | 'stop'>;
  /** Reads the use of tenants; without it, none is read. */
  readonly useMeter?: Pick<UseMeter, 'watch' | 'stop'>;
  /** The cluster that the pods are in. */
  readonly management: Pick<Cluster, 'list'>;
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

/** The objects of a set, and whether each of them was written just now. */
interface Written {
  readonly objects: readonly Resource[];
  readonly isAll: boolean;
}

/** The tenant that a set is applied in. */
interface Inside {
  readonly cluster: Cluster;
  readonly signal: AbortSignal;
  /** Reads what is there; absent where everything is sent. */
  readonly live?: ReadInTenant;
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
  const { pool, enqueue, watches, prober, useMeter, management } = options;
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
  const createMissing = async (manifest: Manifest, set: ApplySet, { cluster, live, signal }: Inside): Promise<void> => {
    const kind = kindOf.get(manifest.kind);
    if (kind === undefined) throw new Error(`${manifest.kind} is not one of the kinds that are applied inside tenants`);
    if ((await live?.(kind, keyOf(manifest))) !== undefined) return;
    await createIfAbsent(cluster, { kind, manifest: mark(manifest, set, marking) }, { fieldManager, signal });
  };

  const applyBare = async (manifest: Manifest, { cluster, live, signal }: Inside): Promise<Resource> => {
    const kind = needed(kindOf.get(manifest.kind), manifest.kind);
    const found = await live?.(kind, keyOf(manifest));
    if (found !== undefined && isAlreadyApplied(found, manifest, fieldManager)) return found;
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

  const reads = new WeakMap<AbortSignal, { readonly cluster: Cluster; readonly read: ReadInTenant }>();
  /** The components that one reconcile applies are read together. */
  const readOnce = (cluster: Cluster, signal: AbortSignal): ReadInTenant => {
    const known = reads.get(signal);
    if (known?.cluster === cluster) return known.read;
    const read = readTenant(cluster, signal);
    reads.set(signal, { cluster, read });
    return read;
  };

  const recheckAfter = (uid: string): number => (watches?.isComplete(uid) === true ? watchedRecheckMs : recheckMs);

  const applySet = async (scope: Readonly<Scope>, set: TenantSet, inside: Inside): Promise<Written> => {
    const { cluster, live, signal } = inside;
    const { component, manifests, prunes, createOnly = [], isBare = false } = set;
    if (isBare) {
      const objects = await Promise.all(manifests.map((manifest) => applyBare(manifest, inside)));
      return { objects, isAll: live === undefined };
    }
    const read = async (key: Key): Promise<Scalable | undefined> =>
      (await live?.(kinds.Deployment, key)) ?? cluster.get<Scalable>(kinds.Deployment, key, { signal });
    const wanted = set.preservedReplicas === true ? await withPreservedReplicas(manifests, read) : manifests;
    // The marks inside the tenant outlive the object here, so they name the owner of the data.
    const owner = { ...scope.tcp, metadata: { ...scope.tcp.metadata, uid: tenancyOwner(scope.tcp) } };
    const owned: ApplySet = { owner, component, manifests: wanted, prunes };
    const [report] = await Promise.all([
      applierOf(scope.tcp.metadata.uid, cluster).apply(owned, { signal, live }),
      ...createOnly.map((manifest) => createMissing(manifest, owned, inside)),
    ]);
    return { objects: [...report.applied, ...report.found], isAll: report.found.length === 0 };
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
    apply: () => Promise<Written>,
  ): Promise<void> => {
    const { uid, namespace, name } = scope.tcp.metadata;
    const { component, createOnly = [] } = set;
    const notify = (components: readonly string[]): void => {
      repair(uid, { namespace, name }, components);
    };
    watches?.applying(uid, component, { connection, notify });
    try {
      const began = options.clock.monotonic();
      const { objects: applied, isAll } = await apply();
      const owned: ApplySet = { owner: scope.tcp, component, manifests: set.manifests, prunes: [] };
      const manifests = set.isBare === true ? set.manifests : owned.manifests.map((one) => mark(one, owned, marking));
      const kind = (object: Draft): KindRef => needed(kindOf.get(object.kind), object.kind);
      const presence = { component, manifests, applied, createOnly, kindOf: kind };
      watches?.applied(uid, { ...presence, ...(isAll && { writtenAt: began }) }, connection);
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
      const cluster = pool.borrow(uid, connection);
      // After a restart, what is there is read first. A new tenant has nothing yet, and what is due again is applied without.
      const isRead = before === undefined && set.isOverdue !== true && scope.versions.installed !== undefined;
      const inside = { cluster, signal: ctx.signal, ...(isRead && { live: readOnce(cluster, ctx.signal) }) };
      await applyWatched(scope, { set, connection }, () => applySet(scope, set, inside));
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
      if (prober === undefined) return;
      const target = probeTarget(scope);
      if (target === 'stop') {
        prober.stop(uid);
        return;
      }
      if (target !== 'unchanged')
        prober.watch(uid, { service: probed(target.service), endpoint: probed(target.endpoint) });
      if (lacksReadyPods(scope)) prober.doubt(uid);
    },
    meterUse(scope: Readonly<Scope>): void {
      const { uid, namespace, name } = scope.tcp.metadata;
      const metered = useMeter === undefined || enqueue === undefined ? 'unchanged' : meteredUse(scope);
      if (metered === 'stop') useMeter?.stop(uid);
      if (metered === 'stop' || metered === 'unchanged') return;
      // What is kept until the next reconcile, which may be hours away, must not hold the scope.
      const connection = connectionOf(scope);
      const { port } = needed(scope.endpoint, 'endpoint');
      const pods = { namespace, labelSelector: podSelectorText(scope.tcp) };
      useMeter?.watch(uid, {
        ...metered,
        servers: (signal) => usedServers(pods, management, signal),
        lines: (server, signal) => {
          const cluster =
            server === undefined
              ? pool.borrow(uid, connection)
              : pool.borrow(`${uid}/${server.host}`, { ...connection, dial: { host: server.host, port } });
          return cluster.lines('/metrics', { signal });
        },
        changed: () => {
          enqueue?.({ namespace, name });
        },
      });
    },
    async close(uid: string): Promise<void> {
      alarm.disarm(uid);
      useMeter?.stop(uid);
      prober?.stop(uid);
      watches?.leave(uid);
      appliers.delete(uid);
      done.delete(uid);
      await pool.leave(uid);
    },
  };
}

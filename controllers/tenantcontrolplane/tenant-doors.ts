import { labels } from '../../api/names.ts';
import type { Key, KindRef, Manifest } from '../../api/meta.ts';
import { checksum } from '../../kubeadm/pki/checksum.ts';
import { Applier } from '../../runtime/applier.ts';
import { mark } from '../../runtime/apply-marks.ts';
import type { ApplySet } from '../../runtime/apply-set.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Cluster } from '../../runtime/cluster.ts';
import type { Context } from '../../runtime/controller.ts';
import { ApiError } from '../../runtime/errors.ts';
import { parseKubeconfig } from '../../runtime/kubeconfig.ts';
import { ChangeAlarm } from '../../tenants/change-alarm.ts';
import type { AlarmSelection } from '../../tenants/change-alarm.ts';
import type { TenantPool } from '../../tenants/pool.ts';
import { fieldManager } from './dependencies.ts';
import type { TenantAccess, TenantSet } from './dependencies.ts';
import { needed } from './scope.ts';
import type { Scope } from './scope.ts';

export interface TenantDoorsOptions {
  readonly pool: TenantPool;
  /** The kinds of what is applied inside tenants. */
  readonly kinds: readonly KindRef[];
  readonly clock: Clock;
  /** Asks for a visit to a TenantControlPlane; nobody hears of what is new in tenants unless said. */
  readonly poke?: (key: Key) => void;
}

/**
 * After this many milliseconds what is in a tenant is applied again, so that what its administrators broke comes back. A
 * watch would see it at once, but costs a connection per kind and tenant for ever.
 */
export const recheckMs = 15 * 60_000;

/** What was applied last, and when. */
interface Done {
  readonly checksum: string;
  readonly at: number;
}

/** The annotation that tells whose set an object inside a tenant is; an owner reference would not reach there. */
const ownerAnnotation = labels.owner;

/** Enters tenants by their own kubeconfig, through the cluster address of their Service. */
export function tenantDoors(options: TenantDoorsOptions): TenantAccess {
  const { pool, poke } = options;
  const alarm = new ChangeAlarm(options.clock);
  const done = new Map<string, Map<string, Done>>();
  const appliers = new Map<string, { readonly cluster: Cluster; readonly applier: Applier }>();

  /** The name in the certificate is verified all the same; only the look-up is saved. */
  const doorAt = (key: string, scope: Readonly<Scope>, host: string | undefined): Cluster => {
    const connection = parseKubeconfig(needed(scope.operatorKubeconfig, 'operatorKubeconfig'));
    const { port } = needed(scope.endpoint, 'endpoint');
    const dial = host === undefined || host === 'None' ? undefined : { host, port };
    return pool.borrow(key, { ...connection, ...(dial !== undefined && { dial }) });
  };

  const door = (scope: Readonly<Scope>): Cluster =>
    doorAt(scope.tcp.metadata.uid ?? '', scope, needed(scope.service, 'service').spec?.clusterIP);

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

  const applierOf = (uid: string, cluster: Cluster): Applier => {
    const known = appliers.get(uid);
    if (known?.cluster === cluster) return known.applier;
    const applier = new Applier({ cluster, fieldManager, marking, kinds: options.kinds });
    appliers.set(uid, { cluster, applier });
    return applier;
  };

  return {
    door,
    async atPod<T>(scope: Readonly<Scope>, podIp: string, work: (door: Cluster) => Promise<T>): Promise<T> {
      const key = `${scope.tcp.metadata.uid ?? ''}/${podIp}`;
      try {
        return await work(doorAt(key, scope, podIp));
      } finally {
        await pool.forget(key);
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
      if (before?.checksum === wanted && now - before.at < recheckMs) return;
      const cluster = door(scope);
      const { component, manifests, prunes } = set;
      const applySet: ApplySet = { owner: scope.tcp, component, manifests, prunes };
      await Promise.all([
        applierOf(uid, cluster).apply(applySet, { signal: ctx.signal }),
        ...(set.createOnly ?? []).map((manifest) => createMissing(cluster, applySet, manifest, ctx)),
      ]);
      done.set(uid, (done.get(uid) ?? new Map<string, Done>()).set(component, { checksum: wanted, at: now }));
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
    async forget(uid: string): Promise<void> {
      alarm.disarm(uid);
      appliers.delete(uid);
      done.delete(uid);
      await pool.forget(uid);
    },
  };
}

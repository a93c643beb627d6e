import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Dependencies } from '../dependencies.ts';
import { ownRestore, withRestorePause } from './restore-pause.ts';

/** Where TenantRestores are not served, no watch reports that one is gone. In milliseconds. */
const lookMs = 10_000;

/**
 * Deletes the TenantRestore of a control plane that is being deleted. Its process must have ended before the data that it writes is
 * removed: what that is waited for is the answer, undefined once nothing works anymore.
 */
export async function removeRestore(
  { cluster, backups }: Pick<Dependencies, 'cluster' | 'backups'>,
  scp: StewardControlPlane,
  ctx: Context,
): Promise<{ readonly message: string; readonly afterMs?: number } | undefined> {
  const found = await ownRestore({ cluster }, scp, ctx);
  if (found === undefined) return undefined;
  const restore = await withRestorePause({ cluster }, found, { paused: false, ctx });
  const { name, namespace, uid, deletionTimestamp, annotations: marks } = restore.metadata;
  if (deletionTimestamp === undefined) {
    await cluster.delete(tenantRestore, { namespace, name }, { uid, signal: ctx.signal });
  }
  const { phase } = restore.status ?? {};
  if (phase === 'Completed' || phase === 'Failed') return undefined;
  const isPaused = marks?.[annotations.paused] !== undefined;
  const help = [
    ...(backups === true ? [] : ["that needs the manager's flag --feature-gates=Backups=true"]),
    ...(isPaused ? [`it is paused: remove its annotation ${annotations.paused}`] : []),
  ];
  const message = [`waiting for TenantRestore ${name} and its process to end`, ...help].join('; ');
  return { message, afterMs: lookMs };
}

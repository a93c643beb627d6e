import { stewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import type { StewardControlPlane } from '../../../api/controlplane/steward-control-plane.ts';
import { annotations } from '../../../api/names.ts';
import { tenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import type { TenantRestore } from '../../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Context } from '../../../runtime/reconcile/controller.ts';
import type { Outcome, Phase } from '../../../runtime/reconcile/phases.ts';
import type { Dependencies } from '../dependencies.ts';
import { fieldManager } from '../dependencies.ts';
import type { Scope } from '../scope.ts';
import { restoreManifest } from './restore-manifest.ts';
import { restoreName, restoreState } from './restore-state.ts';

/**
 * Has the control plane restored, once, by a TenantRestore of its own. Its TenantControlPlane waits for that with 0 replicas. What is
 * complete is learned here, and recorded in the status; the next reconcile starts the pods.
 */
export function restorePhase(deps: Dependencies): Phase<Scope> {
  return {
    name: 'restore',
    needs: ['tenant'],
    async run({ scp, tenant, restore: found }, ctx) {
      const state = restoreState(scp, tenant, found);
      if (state.is === 'none' || state.is === 'recorded') return { is: 'done' };
      if (state.is === 'complete') {
        ctx.event('Normal', 'Restored', `restored as of ${state.upTo}`);
        return { is: 'done', learned: { restored: state.upTo }, afterMs: 1, hasMore: true };
      }
      if (state.is === 'unasked') return { is: 'done', learned: { leftUnrestored: true } };
      if (state.otherMark !== undefined) return otherMark(scp.metadata.name, state.otherMark.upTo);
      if (deps.backups !== true) return disabled();
      if (found !== undefined) return progressOf(found);
      if (scp.spec.restoreFrom === undefined) return removedTooEarly();
      const name = restoreName(scp);
      const restore = await create(deps, scp, ctx);
      if (restore === undefined) return pending(`TenantRestore ${name} is being created`);
      if (!isOwnedBy(restore, scp.metadata.uid)) {
        const message = `a TenantRestore ${name} exists that this object does not own; delete it, or rename this object`;
        return { is: 'waiting', reason: 'OwnedByAnother', message };
      }
      return progressOf(restore);
    },
  };
}

const isOwnedBy = ({ metadata }: TenantRestore, uid: string): boolean =>
  metadata.ownerReferences?.some((owner) => owner.uid === uid) ?? false;

/**
 * The one that there is by now, or undefined if none may be created: a watch enqueues. A cache may not have the record of a restore yet, so that is read from the
 * API server before anything is restored.
 */
async function create(
  { cluster }: Dependencies,
  scp: StewardControlPlane,
  { signal }: Context,
): Promise<TenantRestore | undefined> {
  const { namespace, name, uid } = scp.metadata;
  const now = await cluster.get(stewardControlPlane, { namespace, name }, { signal });
  const { restoreFrom } = scp.spec;
  if (restoreFrom === undefined || now?.metadata.uid !== uid || now.status?.restore?.completionTime !== undefined) {
    return undefined;
  }
  try {
    return await cluster.create(tenantRestore, restoreManifest(scp, restoreFrom), { fieldManager, signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
    return cluster.get(tenantRestore, { namespace, name: restoreName(scp) }, { signal });
  }
}

function disabled(): Outcome<Scope> {
  const message =
    "restores are disabled: set the manager's flag --feature-gates to Backups=true, or create the control plane again without spec.restoreFrom";
  return { is: 'waiting', reason: 'Disabled', message };
}

/** Admission refuses it; where that was not asked, nothing starts empty instead. */
function removedTooEarly(): Outcome<Scope> {
  return pending('spec.restoreFrom was removed before the backup was restored: create the Cluster again');
}

const pending = (message: string): Outcome<Scope> => ({ is: 'waiting', reason: 'Pending', message });

const markMissing = (message: string): Outcome<Scope> => ({ is: 'waiting', reason: 'MarkMissing', message });

/** Somebody wrote it, or restored by command: nobody knows whether CAs, keys and data belong together. */
function otherMark(tenant: string, upTo: string): Outcome<Scope> {
  return markMissing(
    `TenantControlPlane ${tenant} has the annotation of another restore, as of ${upTo}, and does not start: remove its annotation ${annotations.restored}, after which it is restored`,
  );
}

/** What the TenantRestore waits for, or why it was given up and what to do. */
function progressOf({ metadata: { name, deletionTimestamp }, status }: TenantRestore): Outcome<Scope> {
  if (deletionTimestamp !== undefined) {
    return pending(`TenantRestore ${name} is being deleted: another one is created once it is gone`);
  }
  const find = (wanted: string) => status?.conditions?.find(({ type }) => type === wanted);
  const [complete, failed] = [find('Complete'), find('Failed')];
  if (failed?.status === 'True') {
    const { reason, message } = failed;
    const remedy = `remove the cause and delete TenantRestore ${name}, which starts another one`;
    return { is: 'waiting', reason, message: `TenantRestore ${name} failed: ${message}; ${remedy}` };
  }
  if (complete === undefined) return pending(`waiting for TenantRestore ${name}`);
  if (complete.status === 'True') {
    return markMissing(
      `TenantRestore ${name} is complete, but the TenantControlPlane lacks its annotation ${annotations.restored}: delete TenantRestore ${name}, after which another one restores again`,
    );
  }
  const { reason, message } = complete;
  const step = status?.process?.step;
  const progress = [...(step === undefined ? [] : [step]), ...(message === '' ? [] : [message])].join(', ');
  return {
    is: 'waiting',
    reason,
    message: `waiting for TenantRestore ${name}: ${progress === '' ? reason : progress}`,
  };
}

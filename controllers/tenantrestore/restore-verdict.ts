import type { ReasonOf } from '../../api/conditions.ts';
import type { Resource } from '../../api/meta.ts';
import { annotations } from '../../api/names.ts';
import { awaitedRestore } from '../../api/steward/v1alpha1/backup/restore-mark.ts';
import type { TenantRestore } from '../../api/steward/v1alpha1/backup/tenant-restore.ts';
import { specOwner } from '../../api/steward/v1alpha1/pool/spec-owner.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';

/** Whether a restore may begin, by its target. */
export type RestoreVerdict =
  | { readonly is: 'ready' }
  /** It has to be put to sleep, which the spec permits. */
  | { readonly is: 'sleepy' }
  /** Somebody has to do something, or something ends by itself. */
  | { readonly is: 'waiting'; readonly reason: ReasonOf<'TenantRestore', 'Complete'>; readonly message: string }
  /** Waiting would be dangerous: it might begin at a time when nobody expects it anymore. */
  | { readonly is: 'failed'; readonly reason: ReasonOf<'TenantRestore', 'Failed'>; readonly message: string };

/** What was backed up, which need not exist anymore. With type Move, with what there is of it. */
export interface Original {
  readonly name: string;
  /** Absent if it does not exist, or is the target. */
  readonly tcp?: TenantControlPlane | undefined;
  /** Names of its pods that may still write. */
  readonly pods?: readonly string[];
}

/** Whether a restore may begin. `tcp` is the target, undefined if it does not exist. */
export function restoreVerdict(
  { metadata, spec }: TenantRestore,
  { name: original, tcp: source, pods = [] }: Original,
  tcp: TenantControlPlane | undefined,
): RestoreVerdict {
  const { type, tenantControlPlaneName: target, sleep } = spec;
  if (type !== 'Move' && (type === 'Clone') === (target === original)) {
    const message =
      type === 'Clone'
        ? `spec.type: Clone needs a name other than ${original}, the control plane that was backed up`
        : `spec.tenantControlPlaneName: ${target} is not ${original}, which was backed up; use type Clone`;
    return { is: 'failed', reason: 'InvalidSpec', message };
  }
  if (tcp?.metadata.deletionTimestamp !== undefined) {
    const message = `waiting for TenantControlPlane ${target} to be deleted`;
    return { is: 'waiting', reason: 'WaitingForProcesses', message };
  }
  const awaited = tcp && awaitedRestore(tcp);
  if (type === 'Move') {
    const move = { target, awaits: awaited === metadata.name, isSiblings: haveSameController(metadata, tcp?.metadata) };
    return moveVerdict({ ...move, tcp, source, original, pods });
  }
  if (awaited !== undefined) {
    const message = `${target} waits for TenantRestore ${awaited}, which gives it its CAs, keys and data`;
    return { is: 'waiting', reason: 'WaitingForProcesses', message };
  }
  if (type === 'Recreate') {
    if (tcp === undefined) return { is: 'ready' };
    const message = `TenantControlPlane ${target} exists: use type InPlace, or delete it first`;
    return { is: 'failed', reason: 'TenantControlPlaneExists', message };
  }
  if (tcp === undefined) {
    if (type === 'Clone') {
      const message = `create the TenantControlPlane ${target} with 0 replicas`;
      return { is: 'waiting', reason: 'TenantControlPlaneNotFound', message };
    }
    const message = `TenantControlPlane ${target} does not exist: use type Recreate`;
    return { is: 'failed', reason: 'TenantControlPlaneNotFound', message };
  }
  if (tcp.spec.controlPlane.deployment.replicas === 0) return { is: 'ready' };
  const parent = specOwner(tcp.metadata);
  if (parent !== undefined) {
    const message = `TenantControlPlane ${target} is in use, and ${parent.kind} ${parent.name} sets its replicas: put the ${parent.kind} to sleep first`;
    return { is: 'waiting', reason: 'WaitingForSleep', message };
  }
  if (sleep) return { is: 'sleepy' };
  const message = `TenantControlPlane ${target} is in use: put it to sleep, with kubectl steward sleep or 0 replicas, or create another TenantRestore with sleep: true`;
  return { is: 'waiting', reason: 'WaitingForSleep', message };
}

const controllerOf = (metadata: Resource['metadata'] | undefined): string | undefined =>
  metadata?.ownerReferences?.find(({ controller }) => controller === true)?.uid;

function haveSameController(a: Resource['metadata'], b: Resource['metadata'] | undefined): boolean {
  const uid = controllerOf(a);
  return uid !== undefined && uid === controllerOf(b);
}

interface Move {
  readonly target: string;
  /** Whether the target waits for this restore. */
  readonly awaits: boolean;
  /** Whether one object controls both: it has created the target for this restore. */
  readonly isSiblings: boolean;
  readonly tcp: TenantControlPlane | undefined;
  /** The control plane that was backed up, if it exists and is not the target. */
  readonly source: TenantControlPlane | undefined;
  /** Its name, whether or not it exists. */
  readonly original: string;
  /** Names of its pods that may still write. */
  readonly pods: readonly string[];
}

/** The target has been created for this restore, and nobody else has its identity: tokens of one would be valid in the other. */
function moveVerdict({ target, awaits, isSiblings, tcp, source, original, pods }: Move): RestoreVerdict {
  if (tcp === undefined) {
    const message = `waiting for TenantControlPlane ${target} to be created with 0 replicas and the annotation ${annotations.awaitsRestore}; a StewardControlPlane with restoreFrom does so`;
    return { is: 'waiting', reason: 'TenantControlPlaneNotFound', message };
  }
  if (!awaits && isSiblings) {
    const message = `waiting for the annotation ${annotations.awaitsRestore} of TenantControlPlane ${target}, which its StewardControlPlane sets: without it, its CAs, keys and data are left as they are`;
    return { is: 'waiting', reason: 'NotAwaited', message };
  }
  if (!awaits) {
    const message = `TenantControlPlane ${target} does not wait for this restore: its CAs, keys and data are left as they are; to return it to a backup, use type InPlace`;
    return { is: 'failed', reason: 'TenantControlPlaneExists', message };
  }
  if (source !== undefined && source.spec.controlPlane.deployment.replicas !== 0) {
    const { name } = source.metadata;
    const message = `${name}, whose CAs and keys ${target} gets, is in use: delete it or put it to sleep; for a second control plane beside it, use type Clone`;
    return { is: 'waiting', reason: 'WaitingForSleep', message };
  }
  if (pods.length > 0) {
    const message = `waiting for the pods of ${original} to end, whose CAs and keys ${target} gets and which may still write: ${[...pods].sort().join(', ')}`;
    return { is: 'waiting', reason: 'WaitingForPods', message };
  }
  // A process that waits for it gives up some time, and a restore that has failed is not tried again.
  const store = tcp.status?.conditions?.find(({ type }) => type === 'StoreReady');
  if (store?.status !== 'True') {
    const message = `waiting for the DataStore of ${target} to have room for its data${store === undefined || store.message === '' ? '' : `: ${store.message}`}`;
    return { is: 'waiting', reason: 'WaitingForStore', message };
  }
  if (tcp.spec.controlPlane.deployment.replicas === 0) return { is: 'ready' };
  const message = `waiting for whoever created ${target} to set its replicas to 0`;
  return { is: 'waiting', reason: 'WaitingForSleep', message };
}

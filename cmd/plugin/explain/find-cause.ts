import { remedyFor } from '../../../api/remedies/remedy-table.ts';
import { passing } from '../../../api/remedies/remedy.ts';
import { causeWith, conditionCause } from './condition-cause.ts';
import type { Cause, Step } from './explanation.ts';
import { managerCause } from './manager-cause.ts';
import { migrationCause } from './migration-cause.ts';
import { objectCause, unobservedCause } from './object-cause.ts';
import { ownerCause } from './owner-cause.ts';
import { podCause } from './pod-cause.ts';
import { conditionIn } from './situation.ts';
import type { Situation } from './situation.ts';
import { storeCause } from './store-cause.ts';

/** Reasons that only point to the datastore, or to the pods, and that these explain closer. */
const ofStore: ReadonlySet<string> = new Set([
  'StoreUnhealthy',
  'Unreachable',
  'Unauthorized',
  'Unsupported',
  'CredentialsMissing',
  'CredentialsInvalid',
  'Failed',
]);
const aboutStore: ReadonlySet<string> = new Set(['StoreReady', 'UpgradeAllowed']);
const ofPods: ReadonlySet<string> = new Set(['PodsNotReady', 'PodsRefused', 'RolloutFailed', 'ApiServerUnreachable']);

/** Conditions beside the steps, in the order of their weight. False is healthy for all but the last. */
const beside = [
  ['Rotating', 'True'],
  ['CertificateRequestsLeft', 'True'],
  ['Autoscaled', 'False'],
] as const;

/** What explains a step that is not done: what its condition says, or something closer. */
function stepCause(situation: Situation, { condition: type, reason }: Step): Cause | undefined {
  const condition = conditionIn(situation.tenantControlPlane, type);
  if (condition === undefined) return undefined;
  const own = conditionCause(situation, 'TenantControlPlane', condition);
  if (aboutStore.has(type) && ofStore.has(reason)) return storeCause(situation) ?? own;
  if (!ofPods.has(reason)) return own;
  // An API server that cannot store anything does not become ready.
  const store = storeCause(situation);
  const pods = podCause(situation);
  if (
    store !== undefined &&
    !store.passes &&
    (pods === undefined || pods.reason === 'CrashLoop' || pods.reason === 'NotReady')
  )
    return store;
  return pods ?? own;
}

/** Without a TenantControlPlane, its owner says why. */
function absenceCause(situation: Situation): Cause | undefined {
  const { stewardControlPlane: scp, tenantControlPlane: tcp, name } = situation;
  if (tcp !== undefined || scp === undefined) return undefined;
  const found = {
    reason: 'NoTenantControlPlane',
    where: `StewardControlPlane ${name}`,
    what: 'its TenantControlPlane does not exist yet',
    ...(scp.metadata.creationTimestamp !== undefined && { since: scp.metadata.creationTimestamp }),
  };
  return causeWith(situation, found, passing('Wait a few seconds: the manager creates it.'));
}

/** The first of the steps that is not done and that no other one explains. */
function firstStep(situation: Situation, steps: readonly Step[]): Cause | undefined {
  const open = steps.filter(({ state }) => state === 'failed' || state === 'waiting');
  // Something that continues by itself does not hide what a person has to repair.
  const first = open.find(({ state }) => state === 'failed') ?? open[0];
  return first === undefined ? undefined : stepCause(situation, first);
}

function besideCause(situation: Situation): Cause | undefined {
  const { tenantControlPlane: tcp } = situation;
  for (const [type, bad] of beside) {
    const condition = conditionIn(tcp, type);
    if (condition?.status === bad && remedyFor('TenantControlPlane', type, condition.reason)?.text !== 'Nothing.')
      return conditionCause(situation, 'TenantControlPlane', condition);
  }
  return undefined;
}

/** The one cause that explains the others; undefined if nothing is wrong and nothing is waited for. */
export function findCause(situation: Situation, steps: readonly Step[]): Cause | undefined {
  const manager = managerCause(situation) ?? objectCause(situation);
  if (manager !== undefined) return manager;
  const migration = migrationCause(situation);
  if (migration !== undefined && !migration.passes) return migration;
  const step = firstStep(situation, steps);
  if (step !== undefined && !step.passes) return step;
  return (
    ownerCause(situation) ??
    absenceCause(situation) ??
    unobservedCause(situation) ??
    migration ??
    step ??
    fullStore(situation) ??
    besideCause(situation) ??
    readyCause(situation)
  );
}

/** A datastore that is broken, although the control plane does not notice it yet. */
function fullStore(situation: Situation): Cause | undefined {
  const store = storeCause(situation);
  return store?.passes === true ? undefined : store;
}

/** A control plane whose steps are done, but that is not Ready: pods are being replaced. */
function readyCause(situation: Situation): Cause | undefined {
  const ready = conditionIn(situation.tenantControlPlane, 'Ready');
  if (ready === undefined || ready.reason === 'Ready') return undefined;
  const cause = conditionCause(situation, 'TenantControlPlane', ready);
  return podCause(situation) ?? cause;
}

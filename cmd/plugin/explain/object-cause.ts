import { annotations } from '../../../api/names.ts';
import { passing } from '../../../api/remedies/remedy.ts';
import { tenantControlPlaneRemedies } from '../../../api/remedies/tenant-control-plane-remedies.ts';
import { causeWith, conditionCause } from './condition-cause.ts';
import type { Cause } from './explanation.ts';
import { conditionIn } from './situation.ts';
import type { Situation } from './situation.ts';
import { storeCause } from './store-cause.ts';

/** What concerns the object as a whole: its deletion, a pause, an old CustomResourceDefinition. */
export function objectCause(situation: Situation): Cause | undefined {
  const { tenantControlPlane: tcp } = situation;
  if (tcp === undefined) return undefined;
  const paused = pauseCause(situation);
  if (paused !== undefined) return paused;
  if (tcp.metadata.deletionTimestamp !== undefined) return deletionCause(situation, tcp.metadata.deletionTimestamp);
  const outdated = conditionIn(tcp, 'DefinitionOutdated');
  if (outdated?.status === 'True') return conditionCause(situation, 'TenantControlPlane', outdated);
  return undefined;
}

/** A condition says so; before a manager has written it, the annotation. */
function pauseCause(situation: Situation): Cause | undefined {
  const { tenantControlPlane: tcp, stewardControlPlane: scp } = situation;
  const own = conditionIn(tcp, 'Paused');
  if (own?.status === 'True') return conditionCause(situation, 'TenantControlPlane', own);
  const owner = conditionIn(scp, 'Paused');
  if (owner?.status === 'True') return conditionCause(situation, 'StewardControlPlane', owner);
  if (tcp?.metadata.annotations?.[annotations.paused] === undefined) return undefined;
  const what = `the annotation ${annotations.paused} is set: nothing is reconciled, and the status is no longer updated`;
  const where = 'metadata.annotations of the TenantControlPlane';
  return causeWith(situation, { reason: 'Paused', where, what }, tenantControlPlaneRemedies.Paused.Paused);
}

function deletionCause(situation: Situation, since: string): Cause {
  const deleting = conditionIn(situation.tenantControlPlane, 'Deleting');
  if (deleting?.status !== 'True') {
    const found = {
      reason: 'Deleting',
      where: 'metadata.deletionTimestamp',
      what: 'the deletion was requested, and has not been reported on yet',
      since,
    };
    return causeWith(situation, found, passing('Wait: the manager removes the pods, then the data.'));
  }
  const own = conditionCause(situation, 'TenantControlPlane', deleting);
  if (deleting.reason !== 'WaitingForStore') return own;
  const store = storeCause(situation);
  if (store === undefined) return own;
  return {
    ...own,
    what: `${own.what} (${store.where}: ${store.what})`,
    commands: [...own.commands, ...store.commands],
  };
}

/** That the manager has not seen the last change of the spec yet. */
export function unobservedCause(situation: Situation): Cause | undefined {
  const { tenantControlPlane: tcp } = situation;
  if (tcp === undefined) return undefined;
  const { observedGeneration, conditions = [] } = tcp.status ?? {};
  const { generation, creationTimestamp } = tcp.metadata;
  const remedy = passing(
    'Wait a few seconds. If nothing changes, check that the manager watches this namespace (its flag --namespace), and see its log.',
    'kubectl -n steward-system logs -l app.kubernetes.io/name=steward --tail=200 | grep <name>',
  );
  if (conditions.length === 0) {
    const what = 'no manager has reported anything about this object yet';
    const found = { reason: 'NotReported', where: 'status', what, since: creationTimestamp };
    return causeWith(situation, found, remedy);
  }
  if (observedGeneration === undefined || observedGeneration >= generation) return undefined;
  const what = `the last change of the spec (generation ${generation}) has not been reconciled yet; the status is of generation ${observedGeneration}`;
  return causeWith(situation, { reason: 'NotObserved', where: 'status.observedGeneration', what }, remedy);
}

import { kinds } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import { annotations, labels } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { controllerOf, giveBack } from './reassign.ts';
import { heldByImport, isHeld } from './held.ts';
import { actOr, done } from './import-step.ts';
import type { Action, ImportStep, Next } from './import-step.ts';
import { kamajiKinds } from './kamaji-kinds.ts';
import { reachedPods } from './kamaji-facts.ts';
import type { KamajiFacts } from './kamaji-facts.ts';
import { kamajiNames } from './kamaji-names.ts';

const keyOf = ({ namespace, name }: KamajiFacts): Key => ({ namespace, name });

const patch = (
  kind: Extract<Action, { do: 'patch' }>['kind'],
  { namespace = '', name }: Key,
  body: object,
): Action => ({
  do: 'patch',
  kind,
  key: { namespace, name },
  body: { ...body },
});

/** A step that concerns what Steward has. */
const whileOurs =
  (next: (facts: KamajiFacts, ours: NonNullable<KamajiFacts['ours']>) => Next): ImportStep<KamajiFacts>['next'] =>
  (facts) =>
    facts.ours === undefined ? done : next(facts, facts.ours);

const pause = whileOurs((facts, ours) => {
  const isPaused = ours.status?.conditions?.some(({ type, status }) => type === 'Paused' && status === 'True');
  const body = { metadata: { annotations: { [annotations.paused]: heldByImport } } };
  if (!isHeld(ours)) return { is: 'act', actions: [patch(tenantControlPlane, keyOf(facts), body)] };
  return isPaused === true
    ? done
    : { is: 'wait', for: 'the manager of Steward to report that it leaves the control plane alone' };
});

const leadBack: ImportStep<KamajiFacts>['next'] = (facts) => {
  const { service, name, pods, replicaSets } = facts;
  const selector = service?.spec?.selector ?? {};
  const others = Object.keys(selector).filter((key) => key !== kamajiNames.name);
  if (service !== undefined && (others.length > 0 || selector[kamajiNames.name] !== name)) {
    const none = Object.fromEntries(others.map((key) => [key, null]));
    const body = { spec: { selector: { ...none, [kamajiNames.name]: name } } };
    return { is: 'act', actions: [patch(kinds.Service, keyOf(facts), body)] };
  }
  const former = new Set(pods.map(({ metadata }) => metadata.name));
  const reached = [...reachedPods(facts)];
  const isWanted = replicaSets.some(({ spec }) => (spec?.replicas ?? 0) > 0);
  const isBack = reached.every((pod) => former.has(pod)) && (reached.length > 0 || !isWanted);
  return isBack ? done : { is: 'wait', for: 'the Service to lead to the former pods only' };
};

const giveObjectsBack = whileOurs(({ old, dependents }, ours) => {
  if (old === undefined) return { is: 'failed', message: 'the TenantControlPlane of Kamaji is gone' };
  const owner = ownerReferenceOf(old);
  const theirs = dependents.filter(({ object }) => controllerOf(object) === ours.metadata.uid);
  return actOr(
    theirs.map(({ kind, object }) => patch(kind, object.metadata, giveBack(object, ours.metadata.uid, owner))),
  );
});

const unlabel: ImportStep<KamajiFacts>['next'] = ({ pods, replicaSets }) => {
  const none = { metadata: { labels: { [labels.name]: null } } };
  const made = replicaSets.filter(({ spec }) => spec?.template?.metadata?.labels?.[labels.name] !== undefined);
  const marked = pods.filter(({ metadata }) => metadata.labels?.[labels.name] !== undefined);
  return actOr([
    ...made.map(({ metadata }) => patch(kinds.ReplicaSet, metadata, { spec: { template: none } })),
    ...marked.map(({ metadata }) => patch(kinds.Pod, metadata, none)),
  ]);
};

const removePods = whileOurs((facts, ours) => {
  const { deployment } = facts;
  if (deployment === undefined || controllerOf(deployment) !== ours.metadata.uid) return done;
  const { uid, deletionTimestamp } = deployment.metadata;
  if (deletionTimestamp !== undefined) return { is: 'wait', for: 'the Deployment of Steward to be gone' };
  return {
    is: 'act',
    actions: [{ do: 'delete', kind: kinds.Deployment, key: keyOf(facts), uid, propagation: 'Background' }],
  };
});

const removeOurs = whileOurs((facts, ours) => {
  const { uid, finalizers = [], deletionTimestamp, resourceVersion } = ours.metadata;
  // With them, Steward would remove the data.
  if (finalizers.length > 0) {
    const body = { metadata: { resourceVersion, finalizers: [] } };
    return { is: 'act', actions: [patch(tenantControlPlane, keyOf(facts), body)] };
  }
  if (deletionTimestamp !== undefined) return { is: 'wait', for: 'the TenantControlPlane of Steward to be gone' };
  return {
    is: 'act',
    actions: [{ do: 'delete', kind: tenantControlPlane, key: keyOf(facts), uid, propagation: 'Background' }],
  };
});

const resume: ImportStep<KamajiFacts>['next'] = (facts) => {
  const { old } = facts;
  const marks = old?.metadata.annotations ?? {};
  if (old === undefined || marks[annotations.importRecord] === undefined) return done;
  // A pause that the import did not set stays.
  const isOurs = marks[kamajiNames.paused] === heldByImport;
  const noted = { [annotations.importRecord]: null, ...(isOurs && { [kamajiNames.paused]: null }) };
  return { is: 'act', actions: [patch(kamajiKinds.controlPlane, keyOf(facts), { metadata: { annotations: noted } })] };
};

/** The way back to Kamaji, from each point of an import at which the former pods still run. */
export const kamajiUndoSteps: readonly ImportStep<KamajiFacts>[] = [
  { id: 'pause', title: 'Tell Steward to leave the control plane alone', next: pause },
  { id: 'lead-back', title: 'Lead the Service to the former pods only', next: leadBack },
  { id: 'give-back', title: 'Give the Service, Secrets and ConfigMaps back to Kamaji', next: giveObjectsBack },
  { id: 'unlabel', title: "Remove Steward's label from the former pods", next: unlabel },
  { id: 'remove-pods', title: 'Remove the pods of Steward', next: removePods },
  { id: 'remove', title: 'Remove the TenantControlPlane of Steward, without the data', next: removeOurs },
  { id: 'resume', title: 'Let Kamaji reconcile: it adopts its former pods', next: resume },
];

/** Why there is no way back; undefined if there is one. */
export function noWayBackToKamaji(facts: KamajiFacts): string | undefined {
  const { old, ours, replicaSets, namespace, name } = facts;
  if (old === undefined)
    return ours === undefined
      ? `there is no TenantControlPlane ${namespace}/${name} of Kamaji`
      : `TenantControlPlane ${namespace}/${name} of Kamaji is gone: the import was complete, and cannot be undone`;
  if (old.metadata.deletionTimestamp !== undefined)
    return 'the TenantControlPlane of Kamaji is being removed already: run the import again to complete it';
  const wanted = ours?.spec.controlPlane.deployment.replicas ?? 0;
  const isAdopted = ours?.status?.storage?.owner === old.metadata.uid;
  if (isAdopted && replicaSets.length === 0 && wanted > 0)
    return 'the former pods are gone: run the import again to complete it';
  return undefined;
}

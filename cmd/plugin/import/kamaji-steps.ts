import { counted } from '../../../api/counted.ts';
import { kinds } from '../../../api/core/kinds.ts';
import type { Pod, ReplicaSet } from '../../../api/core/kinds.ts';
import type { Key } from '../../../api/meta.ts';
import { ownerReferenceOf } from '../../../api/meta.ts';
import { annotations, labels, tenantObjects } from '../../../api/names.ts';
import { dataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import { hasData } from '../../../api/steward/v1alpha1/data-owner.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionLine } from '../control-plane/ready-condition.ts';
import { controlPlaneFromKamaji, dataStoreFromKamaji, statusFromKamaji } from './from-kamaji.ts';
import { reassign, controllerOf } from './reassign.ts';
import { heldByImport } from './held.ts';
import { differences, recordOf } from './identity.ts';
import { importRecordText } from './import-record.ts';
import { actOr, done } from './import-step.ts';
import type { Action, ImportStep, Next } from './import-step.ts';
import { kamajiKinds } from './kamaji-kinds.ts';
import { isBegun, isReleased, reachedPods, recordIn } from './kamaji-facts.ts';
import type { KamajiFacts } from './kamaji-facts.ts';
import { kamajiNames } from './kamaji-names.ts';
import { isServing } from './is-serving.ts';

/** A reconcile of Kamaji that began before the pause ends within this time, in milliseconds (`--controller-reconcile-timeout`). */
const longestReconcileMs = 30_000;

/** After the Service has stopped leading to a pod, nodes follow within so many milliseconds, and open calls end. */
const followMs = 15_000;

const keyOf = ({ namespace, name }: KamajiFacts): Key => ({ namespace, name });

/** A step that was done before Steward reconciled the control plane. */
const before =
  (next: (facts: KamajiFacts) => Next): ImportStep<KamajiFacts>['next'] =>
  (facts) =>
    isReleased(facts) ? done : next(facts);

const patchOf = (kind: Parameters<typeof patch>[0], { namespace, name }: Key, body: object): Action =>
  patch(kind, { ...(namespace !== undefined && { namespace }), name }, body);

function patch(kind: Extract<Action, { do: 'patch' }>['kind'], key: Key, body: object): Action {
  return { do: 'patch', kind, key, body: { ...body } };
}

const sameList = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  one.length === other.length && one.every((item) => other.includes(item));

function dataStoreStep(facts: KamajiFacts): Next {
  const { store, oldStore, storeName, isStoreChosen } = facts;
  if (oldStore === undefined) return { is: 'failed', message: 'the DataStore of Kamaji is gone' };
  if (store === undefined) {
    if (isStoreChosen) return { is: 'failed', message: `there is no DataStore ${storeName} of Steward` };
    return { is: 'act', actions: [{ do: 'create', kind: dataStore, manifest: dataStoreFromKamaji(oldStore) }] };
  }
  const isSame =
    store.spec.driver === oldStore.spec.driver &&
    (isStoreChosen || sameList(store.spec.endpoints, oldStore.spec.endpoints));
  if (!isSame) {
    const message = `DataStore ${storeName} of Steward has servers other than those of Kamaji's: name the one that has the data with --datastore`;
    return { is: 'failed', message };
  }
  const conditions = store.status?.conditions ?? [];
  const unsupported = conditions.find(({ type, status }) => type === 'VersionSupported' && status === 'False');
  if (unsupported !== undefined) return { is: 'failed', message: `DataStore ${storeName}: ${unsupported.message}` };
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return done;
  const why = ready === undefined ? 'no manager of Steward has reported its state yet' : conditionLine(ready);
  return { is: 'wait', for: `DataStore ${storeName} to be Ready: ${why}` };
}

function admitStep({ ours, refusal }: KamajiFacts): Next {
  if (ours !== undefined || refusal === undefined) return done;
  return { is: 'failed', message: `Steward would refuse the control plane: ${refusal}` };
}

function pauseStep(facts: KamajiFacts): Next {
  const { old, identity, now } = facts;
  const record = recordIn(facts);
  if (isBegun(facts) && record !== undefined) {
    const leftMs = Date.parse(record.since) + longestReconcileMs - now.getTime();
    if (leftMs <= 0) return done;
    return { is: 'wait', for: 'Kamaji to finish what it may have begun, for 30 s' };
  }
  const made = recordOf(identity, now);
  if (made === undefined) return { is: 'failed', message: 'its endpoint, CA or data are no longer known' };
  const noted = {
    [annotations.importRecord]: importRecordText(made),
    [kamajiNames.paused]: old?.metadata.annotations?.[kamajiNames.paused] ?? heldByImport,
  };
  return {
    is: 'act',
    actions: [patchOf(kamajiKinds.controlPlane, keyOf(facts), { metadata: { annotations: noted } })],
  };
}

function createStep(facts: KamajiFacts): Next {
  const { old, ours, storeName } = facts;
  if (old === undefined) return { is: 'failed', message: 'the TenantControlPlane of Kamaji is gone' };
  const key = keyOf(facts);
  if (ours === undefined) {
    const manifest = controlPlaneFromKamaji(old, storeName);
    return { is: 'act', actions: [{ do: 'create', kind: tenantControlPlane, manifest }] };
  }
  if (hasData(ours)) return done;
  const body = { status: statusFromKamaji(old, storeName) };
  return { is: 'act', actions: [{ do: 'patch', kind: tenantControlPlane, key, body, subresource: 'status' }] };
}

const podKey = ({ metadata: { namespace, name } }: Pod | ReplicaSet): Key => ({ namespace, name });

const labeled = (value: string | null): object => ({ metadata: { labels: { [labels.name]: value } } });

function labelStep({ pods, name }: KamajiFacts): Next {
  const missing = pods.filter(({ metadata }) => metadata.labels?.[labels.name] !== name);
  return actOr(missing.map((pod) => patchOf(kinds.Pod, podKey(pod), labeled(name))));
}

function adoptStep(facts: KamajiFacts): Next {
  const { old, ours, dependents, name, service } = facts;
  if (old === undefined || ours === undefined) return { is: 'failed', message: 'a TenantControlPlane is gone' };
  const owner = ownerReferenceOf(ours);
  const theirs = dependents.filter(({ object }) => controllerOf(object) === old.metadata.uid);
  const actions = theirs.map(({ kind, object }): Action => {
    const body = reassign(object, old.metadata.uid, owner);
    const isService = kind.kind === kinds.Service.kind && object.metadata.name === tenantObjects(name).service;
    const selector = { [kamajiNames.name]: null, [labels.name]: name };
    return patchOf(kind, object.metadata, { ...body, ...(isService && { spec: { selector } }) });
  });
  const isLed = service?.spec?.selector?.[labels.name] === name;
  return actOr(actions, isLed ? done : { is: 'failed', message: `the Service ${name} is no longer one of Kamaji` });
}

function releasePodsStep(facts: KamajiFacts): Next {
  const { old, deployment, replicaSets, name } = facts;
  if (deployment !== undefined && controllerOf(deployment) === old?.metadata.uid) {
    if (deployment.metadata.deletionTimestamp !== undefined)
      return { is: 'wait', for: `Deployment ${name} of Kamaji to be deleted without its pods` };
    const { uid } = deployment.metadata;
    return {
      is: 'act',
      actions: [{ do: 'delete', kind: kinds.Deployment, key: keyOf(facts), uid, propagation: 'Orphan' }],
    };
  }
  // A pod that has to be replaced meanwhile serves, too.
  const unlabeled = replicaSets.filter(({ spec }) => spec?.template?.metadata?.labels?.[labels.name] !== name);
  return actOr(unlabeled.map((set) => patchOf(kinds.ReplicaSet, podKey(set), { spec: { template: labeled(name) } })));
}

function releaseStep(facts: KamajiFacts): Next {
  const body = { metadata: { annotations: { [annotations.paused]: null } } };
  return { is: 'act', actions: [patchOf(tenantControlPlane, keyOf(facts), body)] };
}

function readyStep(facts: KamajiFacts): Next {
  const { ours, deployment, pods, slices } = facts;
  // Once the former pods are gone or drained, other conditions of the control plane do not concern the import.
  if (facts.old === undefined || recordIn(facts)?.drained !== undefined) return done;
  const former = new Set(pods.map(({ metadata }) => metadata.name));
  const reached = [...reachedPods({ slices })].filter((name) => !former.has(name)).length;
  return isServing(ours, deployment, reached);
}

function verifyStep(facts: KamajiFacts): Next {
  const record = recordIn(facts);
  if (record === undefined) return done;
  const found = differences(record, facts.identity);
  if (found.length === 0) return done;
  return { is: 'failed', message: `${found.join('; ')}. The former pods still run: go back with --undo` };
}

function drainStep(facts: KamajiFacts): Next {
  const { old, pods, replicaSets, now } = facts;
  const record = recordIn(facts);
  if (old === undefined || record === undefined) return done;
  if (record.drained !== undefined) {
    const leftMs = Date.parse(record.drained) + followMs - now.getTime();
    return leftMs <= 0 ? done : { is: 'wait', for: 'nodes to follow the Service, and open calls to end, for 15 s' };
  }
  const ledTo = pods.filter(({ metadata }) => metadata.labels?.[labels.name] !== undefined);
  const made = replicaSets.filter(({ spec }) => spec?.template?.metadata?.labels?.[labels.name] !== undefined);
  const actions = [
    ...made.map((set) => patchOf(kinds.ReplicaSet, podKey(set), { spec: { template: labeled(null) } })),
    ...ledTo.map((pod) => patchOf(kinds.Pod, podKey(pod), labeled(null))),
  ];
  if (actions.length > 0) return { is: 'act', actions };
  const reached = reachedPods(facts);
  const still = pods.filter(({ metadata }) => reached.has(metadata.name));
  if (still.length > 0)
    return { is: 'wait', for: `the Service to stop leading to ${counted(still.length, 'former pod')}` };
  const text = importRecordText({ ...record, drained: now.toISOString() });
  const body = { metadata: { annotations: { [annotations.importRecord]: text } } };
  return { is: 'act', actions: [patchOf(kamajiKinds.controlPlane, keyOf(facts), body)] };
}

function removeStep({ replicaSets, pods }: KamajiFacts): Next {
  const present = replicaSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const actions = present.map((set): Action => {
    const { uid } = set.metadata;
    return { do: 'delete', kind: kinds.ReplicaSet, key: podKey(set), uid, propagation: 'Background' };
  });
  return actOr(actions, pods.length === 0 ? done : { is: 'wait', for: `${counted(pods.length, 'former pod')} to end` });
}

function forgetStep(facts: KamajiFacts): Next {
  const { old } = facts;
  if (old === undefined) return done;
  const { uid, finalizers = [], deletionTimestamp, resourceVersion } = old.metadata;
  const key = keyOf(facts);
  if (deletionTimestamp !== undefined && finalizers.every((one) => one === 'orphan'))
    return { is: 'wait', for: 'the TenantControlPlane of Kamaji to be gone' };
  // With them, Kamaji would remove the data.
  if (finalizers.length > 0) {
    const body = { metadata: { resourceVersion, finalizers: [] } };
    return { is: 'act', actions: [patchOf(kamajiKinds.controlPlane, key, body)] };
  }
  return { is: 'act', actions: [{ do: 'delete', kind: kamajiKinds.controlPlane, key, uid, propagation: 'Orphan' }] };
}

/** How a control plane of Kamaji is taken over. At each point the Service leads to pods that serve. */
export const kamajiSteps: readonly ImportStep<KamajiFacts>[] = [
  {
    id: 'datastore',
    title: 'Create a DataStore of Steward for the same servers, and wait until it is Ready',
    next: before(dataStoreStep),
  },
  { id: 'admit', title: 'Ask the API server whether Steward accepts the control plane', next: before(admitStep) },
  { id: 'pause', title: 'Tell Kamaji to leave the control plane alone', next: before(pauseStep) },
  {
    id: 'create',
    title: 'Create the TenantControlPlane of Steward, paused, with the recorded names of the data',
    next: before(createStep),
  },
  { id: 'label', title: "Give the running pods the label of Steward's Service", next: before(labelStep) },
  { id: 'adopt', title: 'Adopt the Service, Secrets and ConfigMaps', next: before(adoptStep) },
  { id: 'release-pods', title: 'Delete the Deployment of Kamaji without its pods', next: before(releasePodsStep) },
  { id: 'resume', title: 'Let Steward reconcile: its pods start beside the former ones', next: before(releaseStep) },
  { id: 'ready', title: 'Wait until the new pods serve', next: readyStep },
  { id: 'verify', title: 'Compare endpoint, CA, service-account key and data with those before', next: verifyStep },
  { id: 'drain', title: 'Lead the Service to the new pods only', next: drainStep },
  { id: 'remove', title: 'Remove the former pods', next: removeStep },
  { id: 'forget', title: 'Remove the TenantControlPlane of Kamaji, without its data and objects', next: forgetStep },
];

import { kinds } from '../../../api/core/kinds.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import type { Key, KindRef } from '../../../api/meta.ts';
import { annotations } from '../../../api/names.ts';
import { tenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionLine } from '../control-plane/ready-condition.ts';
import { waits } from './check-go.ts';
import { isReleased, isSeenBySteward, recordIn } from './go-facts.ts';
import type { GoFacts } from './go-facts.ts';
import { heldByImport, isHeld } from './held.ts';
import { differences, recordOf } from './identity.ts';
import { importRecordText } from './import-record.ts';
import { actOr, done } from './import-step.ts';
import type { Action, ImportStep, Next } from './import-step.ts';
import { isServing } from './is-serving.ts';
import { reachedPods } from './kamaji-facts.ts';
import { pinnedAddress } from './pinned-address.ts';

const patch = (kind: KindRef, { namespace = '', name }: Key, body: object): Action => ({
  do: 'patch',
  kind,
  key: { namespace, name },
  body: { ...body },
});

const annotated = (values: Readonly<Record<string, string | null>>): object => ({ metadata: { annotations: values } });

const before =
  (next: (facts: GoFacts) => Next): ImportStep<GoFacts>['next'] =>
  (facts) =>
    isReleased(facts) ? done : next(facts);

function holdStep(facts: GoFacts): Next {
  const { tcp, all, identity, now } = facts;
  if (tcp === undefined) return { is: 'failed', message: 'the TenantControlPlane is gone' };
  const record = recordOf(identity, now);
  if (recordIn(facts) === undefined) {
    if (record === undefined) return { is: 'failed', message: 'its endpoint, CA or data are no longer known' };
    const noted = { [annotations.importRecord]: importRecordText(record), [annotations.paused]: heldByImport };
    return { is: 'act', actions: [patch(tenantControlPlane, tcp.metadata, annotated(noted))] };
  }
  // Once the new manager runs, those that it has not seen yet are new.
  if (isSeenBySteward(tcp)) return done;
  const loose = all.filter((one) => waits(one) && !isHeld(one));
  return actOr(
    loose.map(({ metadata }) => patch(tenantControlPlane, metadata, annotated({ [annotations.paused]: heldByImport }))),
  );
}

function stopStep({ formerManagers }: GoFacts): Next {
  const running = formerManagers.filter(({ spec }) => (spec?.replicas ?? 1) > 0);
  const actions = running.map(({ metadata, spec }) => {
    const noted = { [annotations.importReplicas]: String(spec?.replicas ?? 1) };
    return patch(kinds.Deployment, metadata, { ...annotated(noted), spec: { replicas: 0 } });
  });
  const isStopped = ({ metadata, status }: Deployment): boolean =>
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && (status?.replicas ?? 0) === 0;
  const wait: Next = { is: 'wait', for: 'the manager of the Go Steward to end' };
  return actOr(actions, formerManagers.every(isStopped) ? done : wait);
}

function installedStep({ tcp, isInstalled }: GoFacts): Next {
  if (tcp !== undefined && isSeenBySteward(tcp)) return done;
  if (isInstalled) return { is: 'wait', for: 'the manager of Steward to see the control plane' };
  const message =
    'the Go Steward is stopped and every control plane is paused: install Steward now, and run the same command again; --undo goes back';
  return { is: 'absent', message };
}

function dataStoreStep({ store, tcp }: GoFacts): Next {
  const ready = store?.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return done;
  const name = tcp?.status?.storage?.dataStoreName ?? '';
  const why = ready === undefined ? 'the manager has not reported its state yet' : conditionLine(ready);
  return { is: 'wait', for: `DataStore ${name} to be Ready: ${why}` };
}

function pinStep({ tcp }: GoFacts): Next {
  const address = tcp === undefined ? undefined : pinnedAddress(tcp.spec, tcp.status?.controlPlaneEndpoint ?? '');
  if (tcp === undefined || address === undefined) return done;
  return { is: 'act', actions: [patch(tenantControlPlane, tcp.metadata, { spec: { networkProfile: { address } } })] };
}

function resumeStep({ tcp }: GoFacts): Next {
  if (tcp === undefined) return { is: 'failed', message: 'the TenantControlPlane is gone' };
  return { is: 'act', actions: [patch(tenantControlPlane, tcp.metadata, annotated({ [annotations.paused]: null }))] };
}

function readyStep(facts: GoFacts): Next {
  const { tcp, deployment, slices } = facts;
  return isServing(tcp, deployment, reachedPods({ slices }).size);
}

function verifyStep(facts: GoFacts): Next {
  const record = recordIn(facts);
  const found = record === undefined ? [] : differences(record, facts.identity);
  return found.length === 0
    ? done
    : { is: 'failed', message: `${found.join('; ')}. Restore the backup if this matters` };
}

function forgetStep(facts: GoFacts): Next {
  const { tcp } = facts;
  if (tcp?.metadata.annotations?.[annotations.importRecord] === undefined) return done;
  return {
    is: 'act',
    actions: [patch(tenantControlPlane, tcp.metadata, annotated({ [annotations.importRecord]: null }))],
  };
}

/** How a control plane of the Go Steward is taken over in place. */
export const goSteps: readonly ImportStep<GoFacts>[] = [
  { id: 'hold', title: 'Pause every control plane of the Go Steward: they go on running', next: before(holdStep) },
  { id: 'stop', title: 'Stop the manager of the Go Steward', next: before(stopStep) },
  { id: 'installed', title: 'Find the manager of Steward, which you install now', next: before(installedStep) },
  { id: 'datastore', title: 'Wait until the DataStore is Ready', next: before(dataStoreStep) },
  { id: 'pin', title: 'Name the endpoint in the spec where Steward would choose another', next: before(pinStep) },
  {
    id: 'resume',
    title: 'Let Steward reconcile: its pods replace the former ones, one endpoint leads to both',
    next: before(resumeStep),
  },
  { id: 'ready', title: 'Wait until the new pods serve', next: readyStep },
  { id: 'verify', title: 'Compare endpoint, CA, service-account key and data with those before', next: verifyStep },
  { id: 'forget', title: 'Remove the record of the import', next: forgetStep },
];

function startStep({ formerManagers }: GoFacts): Next {
  const actions = formerManagers.flatMap(({ metadata }) => {
    const count = metadata.annotations?.[annotations.importReplicas];
    if (count === undefined) return [];
    const replicas = /^\d{1,3}$/.test(count) ? Number(count) : 1;
    const noted = annotated({ [annotations.importReplicas]: null });
    return [patch(kinds.Deployment, metadata, { ...noted, spec: { replicas } })];
  });
  // It serves the webhooks that the next step has to pass.
  const isUp = formerManagers.every(({ spec, status }) => (status?.readyReplicas ?? 0) >= (spec?.replicas ?? 1));
  return actOr(actions, isUp ? done : { is: 'wait', for: 'the manager of the Go Steward to be ready' });
}

function resumeAllStep({ all }: GoFacts): Next {
  const held = all.filter((one) => isHeld(one) || one.metadata.annotations?.[annotations.importRecord] !== undefined);
  return actOr(
    held.map((one) => {
      const noted = { [annotations.importRecord]: null, ...(isHeld(one) && { [annotations.paused]: null }) };
      return patch(tenantControlPlane, one.metadata, annotated(noted));
    }),
  );
}

/** The way back to the Go Steward, as long as no manager of this Steward was started. */
export const goUndoSteps: readonly ImportStep<GoFacts>[] = [
  { id: 'start', title: 'Start the manager of the Go Steward again', next: startStep },
  { id: 'resume-all', title: 'Resume every control plane that the import has paused', next: resumeAllStep },
];

/** Why there is no way back; undefined if there is one. */
export function noWayBackToGo(facts: GoFacts): string | undefined {
  const { tcp, namespace, name, isInstalled } = facts;
  if (tcp === undefined) return `there is no TenantControlPlane ${namespace}/${name}`;
  if (isReleased(facts))
    return `Steward reconciles TenantControlPlane ${namespace}/${name} already: only restoring a backup can undo the import`;
  if (isInstalled)
    return 'the manager of Steward is installed: remove it before, since both would write the same objects';
  return undefined;
}

import type { Condition } from '../../api/meta.ts';
import type { tenantControlPlaneConditions } from '../../api/steward/v1alpha1/condition-rows.ts';
import { isUnderWay } from '../../api/steward/v1alpha1/share-in-use.ts';
import type { TenantControlPlane } from '../../api/steward/v1alpha1/tenant-control-plane.ts';
import { conditionsOf, messageOf, setCondition, setConditions, summarize } from '../../runtime/reconcile/conditions.ts';
import type { NewCondition } from '../../runtime/reconcile/conditions.ts';
import type { Report } from '../../runtime/reconcile/phases.ts';
import { rotatingCondition } from './certificates/rotation/rotating-condition.ts';
import { encryptedCondition } from './encryption/encrypted-condition.ts';
import { wantedEncryption } from './encryption/wanted-encryption.ts';
import { deniedOperations } from './shared/denied-operations.ts';
import { failedRemedy, howFar, way } from './datastore/migration/migration-record.ts';
import { addons } from './addons/registry.ts';
import type { Scope } from './scope.ts';
import { wantedReplicas } from './shared/replicas.ts';
import { isRolling } from './shared/state.ts';
import type { StateFinding } from './shared/state.ts';
import { quotaCondition } from './quota/quota-condition.ts';
import { asleepCondition } from './sleep/asleep-condition.ts';
import { autoscaledCondition } from './workload/autoscaled-condition.ts';
import { encryptionAfter, migrationAfter } from './status.ts';

type Type = keyof typeof tenantControlPlaneConditions;

/** The conditions that must be true for a control plane to be Ready, in the order in which people should check them. */
const parts: readonly Type[] = [
  'StoreReady',
  'EndpointReady',
  'CertificatesReady',
  'KubeconfigsReady',
  'ControlPlaneAvailable',
  'TenantConfigured',
  'AddonsReady',
];

/** Only for tenants with a current or past migration. */
function migrating(report: Report<Scope>): readonly NewCondition[] {
  const type: Type = 'Migrating';
  const record = migrationAfter(report.scope);
  if (record === undefined) return [];
  const { phase, message = '' } = record;
  if (!isUnderWay(record)) {
    const help = phase === 'Failed' ? `; ${failedRemedy(report.scope.tcp)}` : '';
    return [{ type, status: 'False', reason: phase, message: `${message}${help}` }];
  }
  const error = report.lines.find((line) => line.phase.name === 'migration')?.error;
  const waits = error === undefined ? message : messageOf(error);
  const text = [way(record), howFar(record), waits].filter((part) => part !== '').join('; ');
  return [{ type, status: 'True', reason: phase, message: text }];
}

/** Only for tenants with a current or past rotation of CAs or keys. */
function rotating(report: Report<Scope>): readonly NewCondition[] {
  const record = report.scope.rotation ?? report.scope.tcp.status?.certificates?.rotation;
  const line = report.lines.find(({ phase }) => phase.name === 'rotation');
  const blocked = line?.blockedBy === undefined ? undefined : 'waiting for the control plane to become ready';
  const found = rotatingCondition(record, line?.error === undefined ? blocked : messageOf(line.error));
  return found === undefined ? [] : [{ type: 'Rotating' satisfies Type, ...found }];
}

/** Only for tenants whose data is, was or is to be encrypted in the datastore. */
function encrypted({ scope, lines }: Report<Scope>): readonly NewCondition[] {
  const of = (name: string): Report<Scope>['lines'][number] | undefined =>
    lines.find(({ phase }) => phase.name === name);
  const first = of('encryption');
  const error = first?.error ?? of('data-rewrite')?.error;
  const waits = first?.outcome?.is === 'waiting' ? first.outcome : undefined;
  const found = encryptedCondition(encryptionAfter(scope), {
    wanted: wantedEncryption(scope.tcp.spec.kubernetes.encryption),
    trouble: waits ?? scope.encryption?.trouble,
    error: error === undefined ? undefined : messageOf(error),
  });
  return found === undefined ? [] : [{ type: 'DataEncrypted' satisfies Type, ...found }];
}

/** Only for tenants with a quota, or that had one. */
function withinQuota({ scope, lines }: Report<Scope>): readonly NewCondition[] {
  const error = lines.find(({ phase }) => phase.name === 'quota')?.error;
  const found = quotaCondition(scope.tcp, scope.quota, error === undefined ? undefined : messageOf(error));
  return found === undefined ? [] : [{ type: 'WithinQuota' satisfies Type, ...found }];
}

/** Only for tenants that are or were scaled by a HorizontalPodAutoscaler. */
function autoscaled({ scope, lines }: Report<Scope>): readonly NewCondition[] {
  const error = lines.find(({ phase }) => phase.name === 'autoscaling')?.error;
  const found = autoscaledCondition(scope.tcp, scope.autoscaler, error === undefined ? undefined : messageOf(error));
  return found === undefined ? [] : [{ type: 'Autoscaled' satisfies Type, ...found }];
}

/** Only for tenants whose sleep is or was requested by schedules, annotations or `afterIdle`. */
function asleep({ scope, lines }: Report<Scope>): readonly NewCondition[] {
  const found = asleepCondition(scope.tcp, scope.sleep ?? {});
  if (found === undefined) return [];
  const error = lines.find(({ phase }) => phase.name === 'background-requests')?.error;
  const trouble = [
    ...(error === undefined ? [] : [`requests in the background count as use: ${messageOf(error)}`]),
    ...(scope.activator?.trouble === undefined ? [] : [scope.activator.trouble]),
  ];
  return [{ type: 'Asleep' satisfies Type, ...found, message: [found.message, ...trouble].join('; ') }];
}

/** Only for tenants whose DataStore is or was chosen by placement. */
function placed({ tcp, placement }: Readonly<Scope>, list: readonly Condition[]): readonly NewCondition[] {
  const type: Type = 'Placed';
  const { storage } = tcp.status ?? {};
  const chosen = placement ?? storage?.placement;
  if (chosen !== undefined && (storage?.setup === undefined || storage.dataStoreName === chosen.dataStoreName)) {
    const message = `DataStore ${chosen.dataStoreName}: ${(chosen.reasons ?? []).join('; ')}`;
    return [{ type, status: 'True', reason: 'Placed', message }];
  }
  const waits = list.some((condition) => condition.type === 'StoreReady' && condition.reason === 'NoDataStoreFits');
  if (waits) {
    const message = 'the condition StoreReady says why each DataStore does not fit';
    return [{ type, status: 'False', reason: 'NoDataStoreFits', message }];
  }
  if (!list.some((condition) => condition.type === type)) return [];
  if ((tcp.spec.dataStore ?? '') === '' && chosen !== undefined && storage?.drain !== undefined) {
    const message = `DataStore ${chosen.dataStoreName} was drained, and the data was migrated to ${storage.dataStoreName ?? ''}`;
    return [{ type, status: 'True', reason: 'Drained', message }];
  }
  return [{ type, status: 'True', reason: 'Named', message: 'spec.dataStore names the DataStore' }];
}

/** The summary condition: True while the API server serves and everything requested is in place. */
function ready(list: readonly Condition[], scope: Readonly<Scope>, { state }: StateFinding): NewCondition {
  const type: Type = 'Ready';
  const summary = summarize(list, parts, type);
  if (state === 'Ready' && summary.status === 'True') {
    const deployment = scope.deployment ?? scope.observed.deployment;
    const rolling = isRolling(deployment, wantedReplicas(scope.tcp, deployment));
    const hold = scope.upgrade?.hold;
    if (hold !== undefined && !rolling) {
      const reason = hold.reason === 'RolloutFailed' ? hold.reason : 'UpgradeHeld';
      return { type, status: 'True', reason, message: hold.message };
    }
    return { type, status: 'True', reason: rolling ? 'RollingOut' : 'Ready', message: '' };
  }
  if (state === 'WriteLimited' && summary.status === 'True') {
    const message = `spec.writePermissions denies ${deniedOperations(scope.tcp).join(', ')}`;
    return { type, status: 'True', reason: state, message };
  }
  const serving = state === 'Upgrading' && summary.status === 'True';
  if (serving)
    return { type, status: 'True', reason: state, message: 'pods of the new version are replacing the old ones' };
  const isStopped = migrationAfter(scope)?.stoppedAt !== undefined;
  const what = isStopped ? 'the API servers are stopped for a moment' : 'writes are denied for a few seconds';
  const message = state === 'Migrating' ? `${what}: the condition Migrating says why` : summary.message;
  return { type, status: 'False', reason: state === 'Ready' ? 'NotReady' : state, message };
}

/** The conditions of a control plane that is not reconciled: those of the last reconcile, and why there is no newer one. */
export function conditionsWhilePaused(tcp: TenantControlPlane, why: string, now: Date): readonly Condition[] {
  const paused = { type: 'Paused' satisfies Type, status: 'True', reason: 'Paused', message: why } as const;
  return setCondition(tcp.status?.conditions ?? [], paused, { generation: tcp.metadata.generation, now });
}

/** Only for tenants that were paused. */
export function resumed({ status }: TenantControlPlane): readonly NewCondition[] {
  const type: Type = 'Paused';
  if (status?.conditions?.some((condition) => condition.type === type) !== true) return [];
  return [{ type, status: 'False', reason: 'NotPaused', message: '' }];
}

/** The conditions after a reconcile. */
export function conditions(report: Report<Scope>, state: StateFinding, now: Date): readonly Condition[] {
  const { scope } = report;
  const at = { generation: scope.tcp.metadata.generation, now };
  const before = scope.tcp.status?.conditions ?? [];
  const list = setConditions(before, conditionsOf(report), at);
  return setConditions(
    list,
    [
      ...placed(scope, list),
      ...migrating(report),
      ...rotating(report),
      ...encrypted(report),
      ...autoscaled(report),
      ...asleep(report),
      ...withinQuota(report),
      ...resumed(scope.tcp),
      ...addons.flatMap((addon) => addon.conditions?.(scope, list) ?? []),
      ready(list, scope, state),
    ],
    at,
  );
}

import { toDo } from '../../../api/remedies/remedy.ts';
import { causeWith, conditionCause } from './condition-cause.ts';
import type { Cause } from './explanation.ts';
import { conditionIn } from './situation.ts';
import type { Situation } from './situation.ts';

/** What etcd, PostgreSQL, MySQL, NATS and the kernel say when there is no space left. */
const isFull =
  /space exceeded|NOSPACE|no space left|disk (is )?full|table .* is full|insufficient storage|maximum bytes exceeded/i;

const full = toDo(
  'Give the datastore more space, or migrate tenants to another DataStore. etcd: raise --quota-backend-bytes, defragment, then disarm its alarm; until then, it accepts no writes.',
  'kubectl describe datastore <datastore>',
  'etcdctl endpoint status --cluster -w table; etcdctl alarm list; etcdctl alarm disarm',
);

/** That the datastore has no space left, wherever it is said. */
function fullCause(situation: Situation): Cause | undefined {
  const { dataStore, tenantControlPlane: tcp } = situation;
  const conditions = [
    ...(dataStore?.status?.conditions ?? []).map((condition) => ({
      condition,
      of: `DataStore ${dataStore?.metadata.name ?? ''}`,
    })),
    ...(tcp?.status?.conditions ?? []).map((condition) => ({ condition, of: 'TenantControlPlane' })),
  ];
  const found = conditions.find(
    ({ condition: { status, reason, message } }) =>
      status === 'False' && (reason === 'SpaceExceeded' || isFull.test(message)),
  );
  if (found === undefined) {
    const [pod, text] = Object.entries(situation.logs).find(([, log]) => isFull.test(log)) ?? [];
    const line = text?.split('\n').findLast((one) => isFull.test(one));
    if (line === undefined || pod === undefined) return undefined;
    return causeWith(
      situation,
      { reason: 'DataStoreFull', where: `log of ${pod}`, what: line.trim().slice(0, 300) },
      full,
    );
  }
  const { type, message, lastTransitionTime: since } = found.condition;
  const where = `condition ${type} of the ${found.of}`;
  return causeWith(situation, { reason: 'DataStoreFull', where, what: message, since }, full);
}

/** What is wrong with the datastore: closer than what the control plane says about it. */
export function storeCause(situation: Situation): Cause | undefined {
  const { dataStore } = situation;
  const isFullToo = fullCause(situation);
  if (isFullToo !== undefined) return isFullToo;
  if (dataStore === undefined) return undefined;
  const broken = ['Reachable', 'Authorized', 'VersionSupported', 'Ready']
    .map((type) => conditionIn(dataStore, type))
    .find((condition) => condition?.status === 'False');
  if (broken === undefined) return undefined;
  const cause = conditionCause(situation, 'DataStore', broken);
  const endpoints = dataStore.spec.endpoints.join(', ');
  return {
    ...cause,
    where: `condition ${broken.type} of the DataStore ${dataStore.metadata.name}`,
    what: broken.reason === 'Unreachable' ? `${cause.what} (endpoints: ${endpoints})` : cause.what,
  };
}

import { annotations } from '../../../api/names.ts';
import { stateCondition } from '../../../api/conditions.ts';
import type { StatedCondition } from '../../../api/conditions.ts';
import type { DataStore } from '../../../api/steward/v1alpha1/data-store.ts';
import type { DrainFindings } from './drain-status.ts';

const count = (many: number): string => `${many === 0 ? 'no' : many} tenant${many === 1 ? '' : 's'}`;
const are = (many: number): string => (many === 1 ? 'is' : 'are');

/** The condition `Drained`; undefined when the DataStore is not drained. */
export function drainedCondition(
  { spec }: Pick<DataStore, 'spec'>,
  findings: DrainFindings | undefined,
): StatedCondition | undefined {
  if (findings === undefined) return undefined;
  const { status, canGo, others } = findings;
  const { remaining, copies, migrating, blocked = [] } = status;
  const { keep = 0, previousCopies } = spec.drain ?? {};
  const type = 'Drained';
  const left = `${count(remaining)} ${are(remaining)} left${keep === 0 ? '' : ` (spec.drain.keep: ${keep})`}`;
  const removes = previousCopies === 'Remove';
  const awaitsCopies = removes && copies > 0;
  const copyText =
    copies === 0
      ? ''
      : `; copies of the data of ${count(copies)} are left${removes ? ' and are being removed' : `: the annotation ${annotations.removePreviousData} of a TenantControlPlane removes its copy`}`;
  const isEnough = remaining <= keep && (keep > 0 || others === 0);
  if (isEnough && !awaitsCopies) {
    return stateCondition('DataStore', { type, status: 'True', reason: 'Drained', message: `${left}${copyText}` });
  }
  if (migrating !== undefined && !isEnough) {
    const { tenant, dataStoreName, phase } = migrating;
    const message = `${left}; ${tenant} is being migrated to DataStore ${dataStoreName} (${phase})`;
    return stateCondition('DataStore', { type, status: 'False', reason: 'Draining', message });
  }
  const [first] = blocked;
  if (!isEnough && first !== undefined && (!canGo || remaining <= keep)) {
    const message = `${left}; ${first.tenant}: ${first.reason}`;
    return stateCondition('DataStore', { type, status: 'False', reason: 'Blocked', message });
  }
  return stateCondition('DataStore', { type, status: 'False', reason: 'Draining', message: `${left}${copyText}` });
}

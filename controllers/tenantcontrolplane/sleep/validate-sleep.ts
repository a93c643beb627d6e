import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import type { InvalidInput } from '../../../kubeadm/invalid-input-error.ts';
import { readSchedule } from './read-schedule.ts';
import type { ScheduleFault } from './read-schedule.ts';

const remedies: Readonly<Record<ScheduleFault['field'], string>> = {
  sleep: 'use five fields, e.g. "0 20 * * *"',
  wake: 'use five fields, e.g. "0 7 * * *"',
  timeZone: 'use one such as Europe/Berlin',
};

/** Validates what the schema cannot: times must come. */
export function validateSleep({ spec }: Pick<TenantControlPlane, 'spec'>, now: Date): readonly InvalidInput[] {
  return (spec.sleep?.schedules ?? []).flatMap((schedule, index) => {
    const found = readSchedule(schedule, now.getTime());
    if (!('reason' in found)) return [];
    const { field, reason } = found;
    return [{ field: `spec.sleep.schedules[${index}].${field}`, reason, remedy: remedies[field] }];
  });
}

import { annotations } from '../../../api/names.ts';
import type { ControlPlaneChange } from './change-control-plane.ts';

/** Keeps a control plane awake or asleep until a time, whatever its schedules say. It does not change its spec. */
export function overrideChange(state: 'Awake' | 'Asleep', until: string): ControlPlaneChange {
  const values = {
    [annotations.wakeUntil]: state === 'Awake' ? until : null,
    [annotations.sleepUntil]: state === 'Asleep' ? until : null,
  };
  const change = { metadata: { annotations: values } };
  return { tenant: change, parent: change };
}

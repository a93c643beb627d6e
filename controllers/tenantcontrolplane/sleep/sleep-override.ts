import { annotations } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** What a person wants for a while, whatever schedules say. */
export interface SleepOverride {
  readonly isAsleep: boolean;
  /** In milliseconds since the epoch. */
  readonly until: number;
}

const time = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;

type Annotated = Pick<TenantControlPlane, 'metadata'>;

/** The time in an annotation; NaN for a value that is none. */
function timeIn({ metadata }: Annotated, key: string): number | undefined {
  const value = metadata.annotations?.[key]?.trim() ?? '';
  if (value === '') return undefined;
  return time.test(value) ? Date.parse(value) : NaN;
}

/** The override in force; undefined if there is none, or none anymore. To be awake takes precedence. */
export function sleepOverride(tcp: Annotated, now: number): SleepOverride | undefined {
  const awake = timeIn(tcp, annotations.wakeUntil) ?? NaN;
  if (awake > now) return { isAsleep: false, until: awake };
  const asleep = timeIn(tcp, annotations.sleepUntil) ?? NaN;
  return asleep > now ? { isAsleep: true, until: asleep } : undefined;
}

/** The annotations whose value is no time, so that they have no effect. */
export function unreadableOverrides(tcp: Annotated): readonly string[] {
  return [annotations.wakeUntil, annotations.sleepUntil].filter((key) => Number.isNaN(timeIn(tcp, key)));
}

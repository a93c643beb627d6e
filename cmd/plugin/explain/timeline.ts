import type { Condition } from '../../../api/meta.ts';
import type { TimelineEntry } from './explanation.ts';
import type { EventObject, Situation } from './situation.ts';

const timeOf = ({ series, deprecatedLastTimestamp, eventTime, metadata }: EventObject): string =>
  series?.lastObservedTime ?? deprecatedLastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '';

function ofEvent(event: EventObject): TimelineEntry {
  const { regarding, reason = '', note = '', type, series, deprecatedCount } = event;
  const count = series?.count ?? deprecatedCount ?? 1;
  const times = count > 1 ? ` (${count} times)` : '';
  return {
    at: timeOf(event),
    from: `${regarding?.kind ?? ''} ${regarding?.name ?? ''}`.trim(),
    text: `${reason}: ${note}${times}`,
    isWarning: type === 'Warning',
  };
}

function ofCondition({ type, status, reason, lastTransitionTime }: Condition): TimelineEntry {
  return { at: lastTransitionTime, from: `condition ${type}`, text: `${status} ${reason}`, isWarning: false };
}

/** What happened, the oldest first: changes of conditions, and Events. */
export function timelineOf(situation: Situation): readonly TimelineEntry[] {
  const { tenantControlPlane: tcp, events } = situation;
  const made = tcp?.metadata.creationTimestamp;
  const ended = tcp?.metadata.deletionTimestamp;
  const from = 'TenantControlPlane';
  const entries = [
    ...(made === undefined ? [] : [{ at: made, from, text: 'created', isWarning: false }]),
    ...(ended === undefined ? [] : [{ at: ended, from, text: 'deletion requested', isWarning: false }]),
    // What only follows another condition did not happen by itself.
    ...(tcp?.status?.conditions ?? []).filter(({ reason }) => reason !== 'Blocked').map(ofCondition),
    ...events.map(ofEvent),
  ];
  return entries
    .filter(({ at }) => !Number.isNaN(Date.parse(at)))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

import { bytesText, numberOf } from '../../../api/quantity.ts';
import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import type { TenantControlPlaneSpec } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** `spec.quota`. */
export type Quota = NonNullable<TenantControlPlaneSpec['quota']>;

/** What was found out about the data of a tenant since the manager started. */
export interface DataMeasurement {
  /** The last measurement that succeeded. */
  readonly found?: { readonly bytes: number; readonly keys: number; readonly time: Date };
  /** Why the last attempt did not. */
  readonly failure?: string;
}

/** What follows from a quota. */
export interface QuotaDecision {
  readonly reason: 'WithinQuota' | 'NearQuota' | 'QuotaExceeded' | 'NotMeasured' | 'MeasurementFailed';
  readonly message: string;
  readonly status: QuotaStatus;
  /** Until it no longer counts without a new measurement, in milliseconds; absent where nothing changes then. */
  readonly endsAfterMs?: number;
}

/**
 * So long a measurement counts, in milliseconds. A tenant is neither blocked nor trusted for longer because its data cannot be measured:
 * a broken DataStore, or one that is slow, must not stop a tenant for ever.
 */
export const keepMs = 10 * 60_000;

/** A blocked tenant may write again once it uses less than this part of each limit, so that it is not blocked again at once. */
const unblockBelow = 0.95;

/** One limit with its use. */
interface Share {
  readonly used: number;
  readonly hard: number;
  readonly text: string;
  /** Below which use a tenant that is blocked may write again. */
  readonly until: string;
}

type Used = NonNullable<QuotaStatus['used']>;

interface Known {
  readonly used: Used;
  readonly time: Date;
}

/** The newest measurement: that of this process, or the recorded one. */
function newest({ found }: DataMeasurement, before: QuotaStatus | undefined): Known | undefined {
  const recorded =
    before?.used === undefined || before.measuredTime === undefined
      ? undefined
      : { used: before.used, time: new Date(before.measuredTime) };
  if (found === undefined) return recorded;
  const now = { used: { dataSize: String(found.bytes), objects: found.keys }, time: found.time };
  return recorded === undefined || recorded.time <= now.time ? now : recorded;
}

function sharesOf({ dataSize, objects }: Quota, used: Used): readonly Share[] {
  const limit = dataSize === undefined ? undefined : numberOf(dataSize);
  const bytes = numberOf(used.dataSize) ?? 0;
  return [
    ...(limit === undefined
      ? []
      : [
          {
            ...{ used: bytes, hard: limit, text: `${bytesText(bytes)} of ${bytesText(limit)}` },
            until: bytesText(limit * unblockBelow),
          },
        ]),
    ...(objects === undefined
      ? []
      : [
          {
            ...{ used: used.objects, hard: objects, text: `${used.objects} of ${objects} objects` },
            until: `${Math.ceil(objects * unblockBelow)} objects`,
          },
        ]),
  ];
}

const hardOf = ({ dataSize, objects }: Quota): QuotaStatus['hard'] => ({
  ...(dataSize !== undefined && { dataSize }),
  ...(objects !== undefined && { objects }),
});

/** RFC 3339 in whole seconds. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

/** Decides whether a tenant may write, and what is reported. `before` is what the last reconcile recorded. */
export function decide(
  quota: Quota,
  {
    before,
    measurement,
    now,
  }: { readonly before?: QuotaStatus; readonly measurement: DataMeasurement; readonly now: Date },
): QuotaDecision {
  const hard = hardOf(quota);
  const known = newest(measurement, before);
  const why = measurement.failure === undefined ? '' : `: ${measurement.failure}`;
  if (known === undefined) {
    return { reason: 'NotMeasured', message: `not measured yet${why}`, status: { hard, blocked: false } };
  }
  const recorded = { hard, used: known.used, measuredTime: seconds(known.time) };
  const left = keepMs - (now.getTime() - known.time.getTime());
  if (left <= 0) {
    const message = `not measured since ${recorded.measuredTime}, so writes are allowed${why}`;
    return { reason: 'MeasurementFailed', message, status: { ...recorded, blocked: false } };
  }
  const late = why === '' ? '' : `; last measured at ${recorded.measuredTime}${why}`;
  const shares = sharesOf(quota, known.used);
  const wasBlocked = before?.blocked === true && JSON.stringify(before.hard) === JSON.stringify(hard);
  const reached = shares.filter(({ used, hard: limit }) => used >= (wasBlocked ? limit * unblockBelow : limit));
  if (reached.length > 0) {
    const texts = reached.map(({ text }) => text).join(', ');
    const until = reached.map(({ until: one }) => `less than ${one}`).join(' and ');
    const message = `the tenant stores ${texts}: creations and changes are denied until it stores ${until}${late}`;
    return { reason: 'QuotaExceeded', message, status: { ...recorded, blocked: true }, endsAfterMs: left };
  }
  const { warnAtPercent } = quota;
  const near = shares.filter(({ used, hard: limit }) => used * 100 >= limit * warnAtPercent);
  const texts = (near.length > 0 ? near : shares).map(({ text }) => text).join(', ');
  const message = `the tenant stores ${texts}${late}`;
  const reason = near.length > 0 ? 'NearQuota' : 'WithinQuota';
  return { reason, message, status: { ...recorded, blocked: false }, endsAfterMs: left };
}

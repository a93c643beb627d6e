import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import type { DataMeasurement } from './data-measurement.ts';
import { keepMs } from './quota-part.ts';
import type { Quota, QuotaPart } from './quota-part.ts';
import { storagePart } from './storage-part.ts';
import { writesPart } from './writes-part.ts';

/** What follows from a quota. */
export interface QuotaDecision {
  readonly reason: 'WithinQuota' | 'NearQuota' | 'QuotaExceeded' | 'NotMeasured' | 'MeasurementFailed';
  readonly message: string;
  readonly status: QuotaStatus;
  /** Until it no longer counts without a new measurement, in milliseconds; absent where nothing changes then. */
  readonly endsAfterMs?: number;
}

const hardOf = ({ dataSize, objects, writesPerSecond }: Quota): QuotaStatus['hard'] => ({
  ...(dataSize !== undefined && { dataSize }),
  ...(objects !== undefined && { objects }),
  ...(writesPerSecond !== undefined && { writesPerSecond }),
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
  const input = { quota, before, now };
  const parts = [
    storagePart({ ...input, measurement }),
    writesPart({ ...input, measurement: measurement.writes ?? {} }),
  ].filter((part) => part !== undefined);
  const of = (is: QuotaPart['is']): readonly QuotaPart[] => parts.filter((part) => part.is === is);
  const hard = hardOf(quota);
  const status = { hard, ...measuredIn(parts), blocked: false };
  const counting = parts.filter(({ is }) => is !== 'tooOld' && is !== 'unknown');
  const endsAfterMs = keepMs - (now.getTime() - (oldest(counting)?.getTime() ?? 0));

  const reached = of('reached');
  if (reached.length > 0) {
    const until = reached.map((part) => part.until).join(' and until ');
    const message = `the tenant ${textOf(reached)}: creations and changes are denied until ${until}${lateOf(parts)}`;
    const blocked: QuotaStatus = {
      ...{ ...status, blocked: true, reached: reached.flatMap((part) => part.reached) },
      ...(reached.some(({ isOverdrawn }) => isOverdrawn === true) && { overdrawn: true }),
    };
    return { reason: 'QuotaExceeded', message, status: blocked, endsAfterMs };
  }
  const [tooOld] = of('tooOld');
  if (tooOld?.time !== undefined) {
    const message = `not measured since ${seconds(tooOld.time)}, so writes are allowed${whyOf(tooOld)}`;
    return { reason: 'MeasurementFailed', message, status };
  }
  const [unknown] = of('unknown');
  if (unknown !== undefined) return { reason: 'NotMeasured', message: `not measured yet${whyOf(unknown)}`, status };
  const near = of('near');
  const message = `the tenant ${textOf(near.length > 0 ? near : parts)}${lateOf(parts)}`;
  return { reason: near.length > 0 ? 'NearQuota' : 'WithinQuota', message, status, endsAfterMs };
}

const textOf = (parts: readonly QuotaPart[]): string => parts.map(({ text }) => text).join(' and ');

const whyOf = ({ failure }: QuotaPart): string => (failure === undefined ? '' : `: ${failure}`);

/** What could not be measured lately, with the time of the last success. */
function lateOf(parts: readonly QuotaPart[]): string {
  const late = parts.filter(({ failure, time }) => failure !== undefined && time !== undefined);
  return late.map((part) => `; last measured at ${seconds(part.time ?? new Date(0))}${whyOf(part)}`).join('');
}

function oldest(parts: readonly QuotaPart[]): Date | undefined {
  const times = parts.flatMap(({ time }) => time ?? []).map((time) => time.getTime());
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}

/** What is recorded: the older one of two times, so that nothing counts for longer than it may. */
function measuredIn(parts: readonly QuotaPart[]): Pick<QuotaStatus, 'used' | 'measuredTime'> {
  const known = parts.filter(({ time }) => time !== undefined);
  const counting = known.filter(({ is }) => is !== 'tooOld');
  const time = oldest(counting.length > 0 ? counting : known);
  if (time === undefined) return {};
  const used = known.reduce<NonNullable<QuotaStatus['used']>>((all, part) => ({ ...all, ...part.used }), {});
  return { used, measuredTime: seconds(time) };
}

import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import type { WritesMeasurement } from './data-measurement.ts';
import { keepMs, unmeasuredPart } from './quota-part.ts';
import type { PartInput, QuotaPart } from './quota-part.ts';

/** RFC 3339 in whole seconds. */
const seconds = (date: Date): string => date.toISOString().replace(/\.\d{3}Z$/, 'Z');

interface Known {
  readonly perSecond: number;
  readonly isEmpty: boolean;
  readonly isOverdrawn: boolean;
  readonly until: string;
  readonly time: Date;
}

const onceCounted = 'its writes are counted again';

/** What was recorded before this process counted. */
function recordedIn(before: QuotaStatus | undefined, limit: number): Known | undefined {
  const perSecond = before?.used?.writesPerSecond;
  if (perSecond === undefined || before?.measuredTime === undefined) return undefined;
  const isSame = before.hard.writesPerSecond === limit;
  const isEmpty = isSame && before.blocked && before.reached?.includes('writesPerSecond') === true;
  return { perSecond, isEmpty, isOverdrawn: false, until: onceCounted, time: new Date(before.measuredTime) };
}

/** True for a tenant that is blocked because of its writes, as was recorded lately, with this limit. */
export function isRecordedEmpty(before: QuotaStatus | undefined, limit: number, now: Date): boolean {
  const recorded = recordedIn(before, limit);
  return recorded?.isEmpty === true && now.getTime() - recorded.time.getTime() < keepMs;
}

function known({ found }: WritesMeasurement, before: QuotaStatus | undefined, limit: number): Known | undefined {
  const recorded = recordedIn(before, limit);
  // That of another limit says nothing.
  if (found?.limit !== limit) return recorded;
  const perSecond = found.perSecond ?? recorded?.perSecond;
  if (perSecond === undefined) return undefined;
  const until = `${seconds(found.refilled)}, and for longer if it goes on writing`;
  const { isEmpty, isOverdrawn, time } = found;
  return { perSecond, isEmpty, isOverdrawn, until, time };
}

/** What the limit of writes says; undefined where there is none. */
export function writesPart({ quota, before, measurement, now }: PartInput<WritesMeasurement>): QuotaPart | undefined {
  const { writesPerSecond: limit, warnAtPercent } = quota;
  if (limit === undefined) return undefined;
  const { failure } = measurement;
  const found = known(measurement, before, limit);
  if (found === undefined) return unmeasuredPart('unknown', { used: {}, time: undefined, failure });
  const { perSecond, isEmpty, isOverdrawn, until, time } = found;
  const used = { writesPerSecond: Math.round(perSecond) };
  if (now.getTime() - time.getTime() >= keepMs) return unmeasuredPart('tooOld', { used, time, failure });
  return {
    is: isEmpty ? 'reached' : perSecond * 100 >= limit * warnAtPercent ? 'near' : 'within',
    reached: isEmpty ? ['writesPerSecond'] : [],
    text: `makes ${used.writesPerSecond} of ${limit} writes a second`,
    ...{ isOverdrawn, until, used, time, failure },
  };
}

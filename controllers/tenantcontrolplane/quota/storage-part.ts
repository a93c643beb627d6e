import { bytesText, numberOf } from '../../../api/quantity.ts';
import type { QuotaStatus } from '../../../api/steward/v1alpha1/quota-status.ts';
import type { DataMeasurement } from './data-measurement.ts';
import { keepMs, unmeasuredPart } from './quota-part.ts';
import type { LimitName, PartInput, Quota, QuotaPart } from './quota-part.ts';

/** A blocked tenant may write again once it uses less than this part of each limit, so that it is not blocked again at once. */
const unblockBelow = 0.95;

/** One limit with its use. */
interface Share {
  readonly name: LimitName;
  readonly used: number;
  readonly hard: number;
  readonly text: string;
  /** Below which use a tenant that is blocked may write again. */
  readonly until: string;
}

interface Used {
  readonly dataSize: number | string;
  readonly objects: number;
}

interface Known {
  readonly used: Used;
  readonly time: Date;
}

function recordedIn(before: QuotaStatus | undefined): Known | undefined {
  const { dataSize, objects } = before?.used ?? {};
  if (dataSize === undefined || objects === undefined || before?.measuredTime === undefined) return undefined;
  return { used: { dataSize, objects }, time: new Date(before.measuredTime) };
}

/** The newest measurement: that of this process, or the recorded one. */
function newest({ found }: DataMeasurement, before: QuotaStatus | undefined): Known | undefined {
  const recorded = recordedIn(before);
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
            ...{ name: 'dataSize' as const, used: bytes, hard: limit },
            text: `${bytesText(bytes)} of ${bytesText(limit)}`,
            until: bytesText(limit * unblockBelow),
          },
        ]),
    ...(objects === undefined
      ? []
      : [
          {
            ...{ name: 'objects' as const, used: used.objects, hard: objects },
            text: `${used.objects} of ${objects} objects`,
            until: `${Math.ceil(objects * unblockBelow)} objects`,
          },
        ]),
  ];
}

/** True for a tenant that was blocked because of what it stores, and whose limits of that are the same. */
function wasBlocked({ dataSize, objects }: Quota, before: QuotaStatus | undefined): boolean {
  if (before?.blocked !== true) return false;
  const reached = before.reached ?? ['dataSize', 'objects'];
  const isSame = before.hard.dataSize === dataSize && before.hard.objects === objects;
  return isSame && reached.some((name) => name !== 'writesPerSecond');
}

/** What the limits of bytes and objects say; undefined where there are none. */
export function storagePart({ quota, before, measurement, now }: PartInput<DataMeasurement>): QuotaPart | undefined {
  if (quota.dataSize === undefined && quota.objects === undefined) return undefined;
  const { failure } = measurement;
  const known = newest(measurement, before);
  if (known === undefined) return unmeasuredPart('unknown', { used: {}, time: undefined, failure });
  const { used, time } = known;
  if (now.getTime() - time.getTime() >= keepMs) return unmeasuredPart('tooOld', { used, time, failure });
  const shares = sharesOf(quota, used);
  const part = wasBlocked(quota, before) ? unblockBelow : 1;
  const reached = shares.filter((share) => share.used >= share.hard * part);
  const near = shares.filter((share) => share.used * 100 >= share.hard * quota.warnAtPercent);
  const notable = [reached, near, shares].find((some) => some.length > 0) ?? [];
  return {
    is: reached.length > 0 ? 'reached' : near.length > 0 ? 'near' : 'within',
    reached: reached.map(({ name }) => name),
    text: `stores ${notable.map(({ text }) => text).join(', ')}`,
    until: `it stores ${notable.map(({ until }) => `less than ${until}`).join(' and ')}`,
    ...{ used, time, failure },
  };
}

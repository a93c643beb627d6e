import type { Condition } from '../meta.ts';
import type { Schema } from '../schema.ts';
import { described, int64, listMap, obj, oneOf, opt, str, time } from '../schema.ts';

/** Standard conditions, one per type. */
export const conditionList = (): Schema<readonly Condition[]> =>
  described(
    listMap(
      obj({
        type: str({ minLength: 1, maxLength: 316 }),
        status: oneOf('True', 'False', 'Unknown'),
        observedGeneration: opt(int64({ minimum: 0 })),
        lastTransitionTime: time(),
        reason: str({ minLength: 1, maxLength: 1024 }),
        message: str({ maxLength: 32768 }),
      }),
      ['type'],
    ),
    'What is true of the object now, one entry per type.',
  );

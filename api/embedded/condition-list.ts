import type { Condition } from '../meta.ts';
import type { Schema } from '../schema.ts';
import { described, int64, listMap, obj, oneOf, opt, str, time } from '../schema.ts';

/** Schema of standard conditions. */
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
    'Current conditions of the object, one entry per type.',
  );

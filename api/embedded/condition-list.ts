import type { Condition } from '../meta.ts';
import type { Schema } from '../schema.ts';
import { described, listMap, obj, str } from '../schema.ts';
import { conditionFields, conditionTexts } from './condition-fields.ts';

/** Schema of standard conditions. */
export const conditionList = (): Schema<readonly Condition[]> =>
  described(
    listMap(
      obj({
        ...conditionFields,
        reason: described(str({ minLength: 1, maxLength: 1024 }), conditionTexts.reason),
        message: described(str({ maxLength: 32768 }), conditionTexts.message),
      }),
      ['type'],
    ),
    'Current conditions of the object, one entry per type.',
  );

import type { Condition } from '../meta.ts';
import type { Schema } from '../schema.ts';
import { described, int64, listMap, obj, oneOf, opt, str, time } from '../schema.ts';

/** A standard condition with the severity that conditions of Cluster API v1beta1 have. */
export interface StackCondition extends Condition {
  /** Set while the status is False. */
  readonly severity?: string;
}

type WrittenCondition = Omit<StackCondition, 'reason' | 'message'> &
  Partial<Pick<StackCondition, 'reason' | 'message'>>;

/**
 * One list for readers of both shapes: of Cluster API v1beta1, with severity, and of meta/v1, with observedGeneration. Reason and
 * message may be absent in objects that the cluster-stack-operator wrote.
 */
export const stackConditionList = (): Schema<readonly StackCondition[], readonly WrittenCondition[]> =>
  described(
    listMap(
      obj({
        type: str({ minLength: 1, maxLength: 316 }),
        status: oneOf('True', 'False', 'Unknown'),
        severity: opt(described(str(), 'Error, Warning or Info, while the status is False.')),
        observedGeneration: opt(int64({ minimum: 0 })),
        lastTransitionTime: time(),
        reason: opt(str({ maxLength: 1024 }), ''),
        message: opt(str({ maxLength: 32768 }), ''),
      }),
      ['type'],
    ),
    'What is true of the object now, one entry per type.',
  );

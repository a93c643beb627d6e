import type { Condition } from '../../api/meta.ts';
import type { Schema } from '../../api/schema.ts';
import { described, int64, listMap, obj, oneOf, opt, str, time } from '../../api/schema.ts';

/** A standard condition with the severity of Cluster API v1beta1 conditions. */
export interface StackCondition extends Condition {
  /** Set while the status is False. */
  readonly severity?: string;
}

type WrittenCondition = Omit<StackCondition, 'reason' | 'message'> &
  Partial<Pick<StackCondition, 'reason' | 'message'>>;

/**
 * One list for readers of both formats: Cluster API v1beta1 with severity, and meta/v1 with observedGeneration. Reason
 * and message may be absent in objects written by the cluster-stack-operator.
 */
export const stackConditionList = (): Schema<readonly StackCondition[], readonly WrittenCondition[]> =>
  described(
    listMap(
      obj({
        type: str({ minLength: 1, maxLength: 316 }),
        status: oneOf('True', 'False', 'Unknown'),
        severity: opt(described(str(), 'Error, Warning or Info. Set while the status is False.')),
        observedGeneration: opt(int64({ minimum: 0 })),
        lastTransitionTime: time(),
        reason: opt(str({ maxLength: 1024 }), ''),
        message: opt(str({ maxLength: 32768 }), ''),
      }),
      ['type'],
    ),
    'Current conditions of the object, one entry per type.',
  );

import { conditionFields, conditionTexts } from '../../api/embedded/condition-fields.ts';
import type { Condition } from '../../api/meta.ts';
import type { Schema } from '../../api/schema.ts';
import { described, listMap, obj, opt, str } from '../../api/schema.ts';

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
        ...conditionFields,
        severity: opt(described(str(), 'Error, Warning or Info. Set while the status is False.')),
        reason: opt(described(str({ maxLength: 1024 }), conditionTexts.reason), ''),
        message: opt(described(str({ maxLength: 32768 }), conditionTexts.message), ''),
      }),
      ['type'],
    ),
    'Current conditions of the object, one entry per type.',
  );

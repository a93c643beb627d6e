import { described, int64, oneOf, opt, str, time } from '../schema.ts';

/** What the fields of a condition mean. */
export const conditionTexts = {
  reason: 'Why the condition has this status, in one word.',
  message: 'What was seen, what is waited for, and how to fix it.',
} as const;

/** The fields of a condition that always have the same schema. */
export const conditionFields = {
  type: described(str({ minLength: 1, maxLength: 316 }), 'What the condition is about, in one word.'),
  status: described(oneOf('True', 'False', 'Unknown'), 'Whether the condition is met.'),
  observedGeneration: opt(described(int64({ minimum: 0 }), 'Generation of the spec that the condition describes.')),
  lastTransitionTime: described(time(), 'Time at which `status` last changed.'),
} as const;

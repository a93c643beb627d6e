import type { Infer } from '../../schema.ts';
import { described, obj, oneOf, opt, str, time } from '../../schema.ts';

const phase = oneOf('Preparing', 'Prepared', 'Completing', 'Completed');
/** Where a rotation stands, in Gardener's words. */
export type RotationPhase = Infer<typeof phase>;

const step = oneOf('Trusting', 'Signing', 'Serving', 'Retiring');
/** What the authorities are brought to. */
export type RotationStep = Infer<typeof step>;

const rotation = obj({
  phase: described(phase, 'Where the rotation stands; in Prepared it waits for the operation that completes it.'),
  step: opt(
    described(
      step,
      'What is being done. Trusting: the new one is trusted beside the old one. Signing: it signs what the API server verifies. Serving: it signs what others verify. Retiring: the old one is trusted no more.',
    ),
  ),
  lastInitiationTime: described(time(), 'When it was asked for.'),
  lastInitiationFinishedTime: opt(
    described(time(), 'Since when the old and the new are trusted everywhere and the new one signs.'),
  ),
  lastCompletionTriggeredTime: opt(described(time(), 'When its completion was asked for.')),
  lastCompletionTime: opt(described(time(), 'Since when the old one is trusted nowhere.')),
  message: opt(described(str(), 'What is waited for.')),
});
/** The rotation of authorities, or of the key of service-account tokens: the one under way, or the last one. */
export type Rotation = Infer<typeof rotation>;

/** The rotations of a tenant's roots of trust. */
export const credentialsRotation = obj({
  operation: opt(
    described(str(), 'The operation that was looked at last; another value of the annotation is a new one.'),
  ),
  refusal: opt(described(str(), 'Why that operation is not done.')),
  certificateAuthorities: opt(described(rotation, 'Of the cluster CA and the front-proxy CA.')),
  serviceAccountKey: opt(described(rotation, 'Of the key that signs service-account tokens.')),
});
export type CredentialsRotation = Infer<typeof credentialsRotation>;

/** What is rotated together. */
export type RotationSubject = 'certificateAuthorities' | 'serviceAccountKey';

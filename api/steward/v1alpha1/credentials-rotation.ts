import type { Infer } from '../../schema.ts';
import { described, obj, oneOf, opt, str, time } from '../../schema.ts';

const phase = oneOf('Preparing', 'Prepared', 'Completing', 'Completed');
/** Phase of a rotation. The names are those of Gardener. */
export type RotationPhase = Infer<typeof phase>;

const step = oneOf('Trusting', 'Signing', 'Serving', 'Retiring');
/** Step of a rotation: the state that the CAs or the key are brought to. */
export type RotationStep = Infer<typeof step>;

const rotation = obj({
  phase: described(
    phase,
    'Phase of the rotation. In phase Prepared, the rotation waits for the operation that completes it.',
  ),
  step: opt(
    described(
      step,
      'Current step of the phase. Trusting: the new CA or key is trusted in addition to the old one. Signing: the new one signs client certificates and tokens. Serving: it also signs serving certificates. Retiring: the old one is no longer trusted.',
    ),
  ),
  lastInitiationTime: described(time(), 'Time at which the rotation was requested.'),
  lastInitiationFinishedTime: opt(
    described(time(), 'Time from which both the old and the new one are trusted everywhere, and the new one signs.'),
  ),
  lastCompletionTriggeredTime: opt(described(time(), 'Time at which completion was requested.')),
  lastCompletionTime: opt(described(time(), 'Time from which the old one is no longer trusted anywhere.')),
  message: opt(described(str(), 'What the rotation is waiting for.')),
});
/** The current or last rotation of the CAs or of the service-account key. */
export type Rotation = Infer<typeof rotation>;

/** The rotations of a tenant's CAs and service-account key. */
export const credentialsRotation = obj({
  operation: opt(
    described(str(), 'Operation that was processed last. A different value of the annotation requests a new one.'),
  ),
  refusal: opt(described(str(), 'Why that operation is not performed.')),
  certificateAuthorities: opt(described(rotation, 'Rotation of the cluster CA and the front-proxy CA.')),
  serviceAccountKey: opt(described(rotation, 'Rotation of the key that signs service-account tokens.')),
});
export type CredentialsRotation = Infer<typeof credentialsRotation>;

/** What is rotated together. */
export type RotationSubject = 'certificateAuthorities' | 'serviceAccountKey';

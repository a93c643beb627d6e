import type { Verdict } from '../../../kubeadm/pki/key-pair.ts';
import { RetryError } from '../../../runtime/client/errors.ts';

/** How soon the clock may be right, in milliseconds. */
const lookAgainMs = 60_000;

/**
 * The error for the CA in a Secret that is not valid yet; undefined for any other verdict. A clock is or was wrong, here or where the CA was
 * issued: the CA is intact, must not be replaced, and can be used later without any change.
 */
export function notYetValid(secretName: string, verdict: Verdict | undefined): RetryError | undefined {
  if (verdict === undefined || verdict.keep || verdict.reason !== 'NotYetValid') return undefined;
  return new RetryError(
    'NotYetValid',
    `Secret ${secretName} cannot be used yet (${verdict.message}): if the clock of the manager's node is wrong, correct it; otherwise wait. Do not replace the Secret. It is checked again every minute`,
    lookAgainMs,
  );
}

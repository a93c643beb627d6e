import type { Manifest } from '../api/meta.ts';
import { ApiError, RetryError, TerminalError } from './errors.ts';
import { describe } from './object-id.ts';

/** Reasons of refusals that a person, or the passing of time, can help. */
export const refusalReasons = {
  /** A field that the API server never lets change would have to. */
  immutableField: 'ImmutableField',
  /** The object is controlled by another owner. */
  ownedByAnother: 'OwnedByAnother',
} as const;

const immutable =
  /field is immutable|may not change once set|is immutable after creation|updates to .* are forbidden|cannot change roleRef/i;
const otherController = /only one reference can have controller set to true/i;

/** An API server's refusal of one manifest, in words that name the object and the remedy. Other errors stay as they are. */
export function explainRefusal(manifest: Manifest, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const which = describe(manifest);
  if (error.code === 422 && otherController.test(error.message)) {
    return ownedByAnother(manifest, 'another owner', error);
  }
  if (error.code === 422 && immutable.test(error.message)) {
    return new TerminalError(
      refusalReasons.immutableField,
      `${which} exists with another value in a field that cannot change (${error.message}): delete it and it is made anew, ` +
        'or take the change back',
      { cause: error },
    );
  }
  return new ApiError(error.code, error.reason, `applying ${which}: ${error.message}`, {
    retryAfterMs: error.retryAfterMs,
    cause: error,
  });
}

/** The refusal to take an object that `controller` controls. Retried: it may be the remainder of a deleted owner. */
export function ownedByAnother(manifest: Manifest, controller: string, cause?: unknown): RetryError {
  return new RetryError(
    refusalReasons.ownedByAnother,
    `${describe(manifest)} is controlled by ${controller}: waiting until it is gone. If it is not the remainder of a ` +
      'deleted owner of this name, delete it or give one of the two owners another name',
    2_000,
    cause === undefined ? undefined : { cause },
  );
}

/** The refusal to take an object that is not the owner's, for a reason in words. Retried: it may be handed over, or go. */
export function notOurs(why: string): RetryError {
  return new RetryError(refusalReasons.ownedByAnother, why, 30_000);
}

/** The refusal to take an object that somebody has made by hand under the name that is wanted. */
export function writtenBySomebody(manifest: Manifest): RetryError {
  return new RetryError(
    refusalReasons.ownedByAnother,
    `${describe(manifest)} was made by somebody else and is left alone: give it another name, or delete it if it is not needed`,
    30_000,
  );
}

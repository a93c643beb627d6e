import type { Manifest } from '../../api/meta.ts';
import { ApiError, RetryError, TerminalError } from './errors.ts';
import { describe } from '../cache/object-id.ts';

/** Reasons of refusals that a person, or the passing of time, can help. */
export const refusalReasons = {
  /** A field that the API server never lets change would have to. */
  immutableField: 'ImmutableField',
  /** The object is controlled by another owner. */
  ownedByAnother: 'OwnedByAnother',
} as const;

const immutable =
  /field is immutable|may not change once set|is immutable after creation|updates to .* are forbidden|cannot change roleRef|as indicated by .*ipFamilies/i;
const otherController = /only one reference can have controller set to true/i;

/** True for the refusal of an object that has another controller already. */
export function isOfAnother(error: unknown): boolean {
  return error instanceof ApiError && error.code === 422 && otherController.test(error.message);
}

/** An API server's refusal of one manifest, as text that names the object and the remedy. Other errors stay as they are. */
export function explainRefusal(manifest: Manifest, error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const which = describe(manifest);
  if (isOfAnother(error)) {
    return ownedByAnother(manifest, 'another owner', error);
  }
  if (error.code === 422 && immutable.test(error.message)) {
    return new TerminalError(
      refusalReasons.immutableField,
      `${which} exists with a different value in an immutable field (${error.message}): delete it to have it ` +
        'recreated, or revert the change',
      { cause: error },
    );
  }
  return new ApiError(error.code, error.reason, `applying ${which}: ${error.message}`, {
    retryAfterMs: error.retryAfterMs,
    cause: error,
  });
}

/** The refusal to adopt an object that `controller` controls. Retried: it may be left over from a deleted owner. */
export function ownedByAnother(manifest: Manifest, controller: string, cause?: unknown): RetryError {
  return new RetryError(
    refusalReasons.ownedByAnother,
    `${describe(manifest)} is controlled by ${controller}: waiting for it to be deleted. If it is not left over from ` +
      'a deleted owner of this name, delete it or rename one of the two owners',
    2_000,
    cause === undefined ? undefined : { cause },
  );
}

/** The refusal to adopt an object that does not belong to the owner, with the reason as text. Retried: it may be released or deleted. */
export function notOurs(why: string): RetryError {
  return new RetryError(refusalReasons.ownedByAnother, why, 30_000);
}

/** The refusal to adopt an object that someone created manually under the wanted name. */
export function writtenBySomebody(manifest: Manifest): RetryError {
  return new RetryError(
    refusalReasons.ownedByAnother,
    `${describe(manifest)} was created by someone else and is left alone: rename it, or delete it if it is not needed`,
    30_000,
  );
}

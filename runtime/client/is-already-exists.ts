import { ApiError } from './errors.ts';

/**
 * True for the refusal of a create because an object of this name exists. An API server refuses with the same code when it could not
 * count the object for a quota because others were created meanwhile: then there is none.
 */
export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.reason === 'AlreadyExists';
}

import jsonpatch from 'fast-json-patch';
import type { Operation } from 'fast-json-patch';
import { InvalidInputError } from './invalid-input-error.ts';

/** One operation of a JSON patch (RFC 6902). */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  /** A JSON pointer (RFC 6901). */
  readonly path: string;
  readonly from?: string | undefined;
  readonly value?: unknown;
}

const remedies: Readonly<Record<string, string>> = {
  OPERATION_PATH_UNRESOLVABLE: 'use a path that exists, or create it with an “add” operation first',
  OPERATION_FROM_UNRESOLVABLE: 'use a “from” that exists',
  TEST_OPERATION_FAILED: 'change the tested value, or remove the test',
};

function refusal(operation: JsonPatchOperation, field: string, cause: unknown): InvalidInputError {
  const name = cause instanceof jsonpatch.JsonPatchError ? cause.name : '';
  return new InvalidInputError(
    {
      field,
      value: `${operation.op} ${operation.path}`,
      reason: name === 'TEST_OPERATION_FAILED' ? 'does not hold' : 'cannot be applied',
      remedy: remedies[name] ?? 'use an operation of RFC 6902: op, path, and value or from if the op needs it',
    },
    { cause },
  );
}

/**
 * Applies JSON patches (RFC 6902) one after the other to a copy of `document`. Throws `InvalidInputError` naming the operation by
 * `field` and its index; the document itself is unchanged.
 */
export function applyJsonPatches(
  document: Readonly<Record<string, unknown>>,
  operations: readonly JsonPatchOperation[],
  field: string,
): Readonly<Record<string, unknown>> {
  let patched: unknown = structuredClone(document);
  operations.forEach((operation, index) => {
    try {
      // The library requires the type of each op; `validate` makes it check the rest.
      const step = structuredClone(operation) as Operation;
      patched = jsonpatch.applyOperation(patched, step, true).newDocument;
    } catch (cause) {
      throw refusal(operation, `${field}[${index}]`, cause);
    }
  });
  if (typeof patched === 'object' && patched !== null && !Array.isArray(patched))
    return patched as Record<string, unknown>;
  const remedy = 'patch fields of the document, not the document itself';
  throw new InvalidInputError({ field, reason: 'does not result in a JSON object', remedy });
}

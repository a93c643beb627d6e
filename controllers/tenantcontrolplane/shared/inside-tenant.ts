import { writePermissionsPolicy } from '../../../api/names.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Scope } from '../scope.ts';

/** A tenant's API server creates its namespaces shortly after it starts to answer. In milliseconds. */
const namespacesMs = 100;

function isDeniedByUs(cause: unknown): boolean {
  const policy = `ValidatingAdmissionPolicy '${writePermissionsPolicy}'`;
  return cause instanceof ApiError && cause.code === 403 && cause.message.includes(policy);
}

/** The error of an API server that has not created its namespaces yet; the applier prefixes it with the applied object. */
const noNamespace = /(?:^|: )namespaces "[^"]+" not found$/;

/**
 * Applies a set inside the tenant; undefined when it succeeded. A missing namespace is a matter of moments, and what the spec
 * itself denies is postponed: this says nothing about what was there before. Once a version is recorded, such an error may come
 * from someone inside the tenant, who can serve a whole group of its API.
 */
export async function applied(scope: Readonly<Scope>, work: Promise<void>): Promise<Outcome<Scope> | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    const causes: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    if (causes.every(isDeniedByUs)) return { is: 'done', message: 'waiting for spec.writePermissions to allow writes' };
    const starts = scope.versions.installed === undefined;
    const early = causes.every(
      (cause) => cause instanceof ApiError && cause.code === 404 && noNamespace.test(cause.message),
    );
    if (!starts || !early) throw error;
    const message = 'the API server of the tenant has not created its namespaces yet';
    return { is: 'waiting', reason: 'ApiServerNotReady', message, afterMs: namespacesMs, elsewhere: error };
  }
}

import { quotaPolicy, writePermissionsPolicy } from '../../../api/names.ts';
import { ApiError } from '../../../runtime/client/errors.ts';
import type { Outcome } from '../../../runtime/reconcile/phases.ts';
import type { Scope } from '../scope.ts';

/** A tenant's API server creates its namespaces shortly after it starts to answer. In milliseconds. */
const namespacesMs = 100;

/** Policies that deny writes of Steward as well, by the field that says so. */
const denials = { 'spec.writePermissions': writePermissionsPolicy, 'spec.quota': quotaPolicy } as const;

/** The field because of which a write was denied; undefined for another error. */
function deniedBy(cause: unknown): string | undefined {
  if (!(cause instanceof ApiError) || cause.code !== 403) return undefined;
  return Object.entries(denials).find(([, policy]) =>
    cause.message.includes(`ValidatingAdmissionPolicy '${policy}'`),
  )?.[0];
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
    const fields = [...new Set(causes.map(deniedBy))];
    if (!fields.includes(undefined))
      return { is: 'done', message: `waiting for ${fields.join(' and ')} to allow writes` };
    const starts = scope.versions.installed === undefined;
    const early = causes.every(
      (cause) => cause instanceof ApiError && cause.code === 404 && noNamespace.test(cause.message),
    );
    if (!starts || !early) throw error;
    const message = 'the API server of the tenant has not created its namespaces yet';
    return { is: 'waiting', reason: 'ApiServerNotReady', message, afterMs: namespacesMs, elsewhere: error };
  }
}

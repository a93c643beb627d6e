import { allKinds } from '../../api/all-kinds.ts';
import type { OpenApi } from '../../api/schema.ts';
import { applyDefaults } from '../../api/structural/apply-defaults.ts';
import { prune } from '../../api/structural/prune.ts';
import { validate } from '../../api/structural/validate.ts';
import { refusals } from './fake-refusals.ts';
import { kindIdOf, type Admit } from './fake-store.ts';
import type { StoredObject } from './stored-object.ts';

const schemas = new Map<string, Readonly<Record<'spec' | 'status', OpenApi | undefined>>>(
  allKinds.map((kind) => [kindIdOf(kind), { spec: kind.spec.openapi, status: kind.status?.openapi }]),
);

/**
 * Prunes, defaults and validates objects of Steward's kinds by their schemas, like an API server with their CRDs, without
 * CEL rules and webhooks. Does not change other kinds.
 */
export const admitBySchema: Admit = (kind, object) => {
  const schema = schemas.get(kindIdOf(kind));
  if (schema === undefined) return object;
  const next: StoredObject = { ...object };
  const problems = (['spec', 'status'] as const).flatMap((part) => {
    const openapi = schema[part];
    if (openapi === undefined || next[part] === undefined) return [];
    next[part] = applyDefaults(openapi, prune(openapi, next[part]));
    return validate(openapi, next[part], part);
  });
  if (next.spec === undefined) problems.push({ field: 'spec', message: 'Required value' });
  if (problems.length === 0) return next;
  const text = problems.map(({ field, message }) => `${field}: ${message}`).join(', ');
  throw refusals.invalid(kind, object.metadata.name ?? '', problems.length === 1 ? text : `[${text}]`);
};

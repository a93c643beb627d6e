import type { KindRef } from '../../api/meta.ts';
import { ApiError } from '../../runtime/client/errors.ts';

const resourceOf = (kind: KindRef): string => (kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`);

/** The API server's refusals, in its own words. */
export const refusals = {
  notFound: (kind: KindRef, name: string): ApiError =>
    new ApiError(404, 'NotFound', `${resourceOf(kind)} "${name}" not found`),
  /** What a path is answered of which nothing is known; it is no Status object. */
  absentKind: (): ApiError => new ApiError(404, 'NotFound', '404 page not found'),
  alreadyExists: (kind: KindRef, name: string): ApiError =>
    new ApiError(409, 'AlreadyExists', `${resourceOf(kind)} "${name}" already exists`),
  conflict: (kind: KindRef, name: string, why: string): ApiError =>
    new ApiError(409, 'Conflict', `Operation cannot be fulfilled on ${resourceOf(kind)} "${name}": ${why}`),
  invalid: (kind: KindRef, name: string, why: string): ApiError =>
    new ApiError(422, 'Invalid', `${kind.kind} "${name}" is invalid: ${why}`),
  forbidden: (kind: KindRef, call: { verb: string; resource: string; name?: string; namespace?: string }): ApiError =>
    new ApiError(
      403,
      'Forbidden',
      `${resourceOf(kind)}${call.name === undefined ? '' : ` "${call.name}"`} is forbidden: User "controller" cannot ` +
        `${call.verb} resource "${call.resource}" in API group "${kind.group}" ` +
        (call.namespace === undefined ? 'at the cluster scope' : `in the namespace "${call.namespace}"`),
    ),
  /** The real server has no better code for it. */
  versionOnCreate: (): ApiError =>
    new ApiError(500, 'InternalError', 'resourceVersion should not be set on objects to be created'),
  absentNamespace: (namespace: string): ApiError =>
    new ApiError(404, 'NotFound', `namespaces "${namespace}" not found`),
  terminating: (kind: KindRef, name: string, namespace: string): ApiError =>
    new ApiError(
      403,
      'Forbidden',
      `${resourceOf(kind)} "${name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    ),
  expired: (revision: number, floor: number): ApiError =>
    new ApiError(410, 'Expired', `too old resource version: ${revision} (${floor})`),
} as const;

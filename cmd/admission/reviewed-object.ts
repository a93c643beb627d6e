import { asStored } from '../../api/as-stored.ts';
import type { DraftOf, KindRef, Resource } from '../../api/meta.ts';
import type { AdmissionRequest } from '../../runtime/admission/admission.ts';

/** The object of a request, for rules that judge stored ones. */
export function objectOf<T extends Resource>(kind: KindRef<T>, request: AdmissionRequest): T {
  return asStored(draftOf(kind, request));
}

/** The object as the rule's own kind; the API server converts to the version that the webhook's configuration names. */
export function draftOf<T extends Resource>(kind: KindRef<T>, request: AdmissionRequest): DraftOf<T> {
  const { object } = request;
  if (object === undefined || object === null || request.kind.kind !== kind.kind) {
    throw new Error(`expected a ${kind.kind}, but the ${request.operation} request is about ${request.kind.kind}`);
  }
  return object as DraftOf<T>;
}

/** What the object of a request replaces, or was before its deletion. */
export function oldOf<T extends Resource>(_kind: KindRef<T>, { oldObject }: AdmissionRequest): { readonly old?: T } {
  return oldObject === undefined || oldObject === null ? {} : { old: oldObject as T };
}

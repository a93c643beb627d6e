import type { ObjectAddress, PlainMetadata, PlainObject } from '../cluster/kubernetes-client.ts';

/** The metadata of an object, empty if it has none. */
export function metadataOf(object: PlainObject): PlainMetadata {
  return object.metadata ?? {};
}

/** Where an object is found again. */
export function addressOf(object: PlainObject): ObjectAddress & { readonly namespace: string } {
  const { name = '', namespace = '' } = metadataOf(object);
  return { apiVersion: object.apiVersion ?? '', kind: object.kind ?? '', name, namespace };
}

/** Whether the status of an object of infrastructure says that it is provisioned. */
export function isProvisioned(object: PlainObject): boolean {
  const initialization = object.status?.initialization as { readonly provisioned?: boolean } | undefined;
  return initialization?.provisioned === true;
}

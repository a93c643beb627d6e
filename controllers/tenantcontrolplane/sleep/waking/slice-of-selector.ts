import type { EndpointSlice } from '../../../../api/core/kinds.ts';

/** Names what manages an EndpointSlice. */
export const sliceManagerLabel = 'endpointslice.kubernetes.io/managed-by';

/** True for a slice that the Service's selector leads to, and not for others beside it. */
export function isOfSelector({ metadata }: Pick<EndpointSlice, 'metadata'>): boolean {
  return metadata.labels?.[sliceManagerLabel] === 'endpointslice-controller.k8s.io';
}

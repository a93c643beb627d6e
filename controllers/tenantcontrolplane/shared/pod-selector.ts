import { labels } from '../../../api/names.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';

/** The labels that select a control plane's pods. */
export function podSelector(tcp: TenantControlPlane): Readonly<Record<string, string>> {
  return { [labels.name]: tcp.metadata.name };
}

/** The same as text. */
export function podSelectorText(tcp: TenantControlPlane): string {
  return `${labels.name}=${tcp.metadata.name}`;
}

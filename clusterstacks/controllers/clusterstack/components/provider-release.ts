import { clusterStackLabels, providerReleaseGroup } from '../../../api/names.ts';
import type { ClusterStack } from '../../../api/cluster-stack.ts';
import type { Manifest, Resource } from '../../../../api/meta.ts';

/** The template that a stack's `spec.providerRef` names (`spec.template.{metadata,spec}`). */
export interface ProviderTemplate extends Resource {
  readonly spec?: { readonly template?: { readonly metadata?: Resource['metadata']; readonly spec?: unknown } };
}

/** The type of a provider's object for a release: that of its template without the word at the end. Undefined for what is no template. */
export function providerReleaseType(
  apiVersion = '',
  kind = '',
): { readonly apiVersion: string; readonly kind: string } | undefined {
  if (!apiVersion.startsWith(`${providerReleaseGroup}/`) || !/.Template$/.test(kind)) return undefined;
  return { apiVersion, kind: kind.replace(/Template$/, '') };
}

/** The provider's object of one release: named like it, with the labels and annotations of the stack and the template's spec. */
export function providerRelease(input: {
  readonly stack: ClusterStack;
  readonly template: ProviderTemplate;
  readonly type: { readonly apiVersion: string; readonly kind: string };
  readonly release: string;
}): Manifest {
  const { stack, template, type, release } = input;
  const { metadata, spec = {} } = template.spec?.template ?? {};
  const annotations = Object.fromEntries(
    Object.entries({ ...stack.metadata.annotations, ...metadata?.annotations }).filter(
      // What kubectl notes of the stack itself says nothing of the copy.
      ([key]) => key !== 'kubectl.kubernetes.io/last-applied-configuration',
    ),
  );
  return {
    ...type,
    metadata: {
      name: release,
      namespace: stack.metadata.namespace,
      labels: { ...stack.metadata.labels, ...metadata?.labels, [clusterStackLabels.release]: release },
      annotations,
    },
    spec,
  };
}

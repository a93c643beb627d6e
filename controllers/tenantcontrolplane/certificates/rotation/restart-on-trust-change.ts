import type { Manifest } from '../../../../api/meta.ts';
import { annotations } from '../../../../api/names.ts';
import type { TenantControlPlane } from '../../../../api/steward/v1alpha1/tenant-control-plane.ts';

type Fields = Readonly<Record<string, unknown>>;

const fields = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});

const workloads: ReadonlySet<string> = new Set(['DaemonSet', 'Deployment']);

/**
 * The manifests of an add-on whose pods are replaced when a new CA has become trusted: they read CAs only when they start.
 * Unchanged for a tenant whose CAs were never rotated.
 */
export function trustingPods(tcp: TenantControlPlane, manifests: readonly Manifest[]): readonly Manifest[] {
  const since = tcp.status?.certificates?.rotation?.certificateAuthorities?.lastInitiationFinishedTime;
  if (since === undefined) return manifests;
  return manifests.map((manifest) => (workloads.has(manifest.kind) ? withAnnotation(manifest, since) : manifest));
}

function withAnnotation(manifest: Manifest, since: string): Manifest {
  const spec = fields(manifest.spec);
  const template = fields(spec.template);
  const metadata = fields(template.metadata);
  const carried = { ...fields(metadata.annotations), [annotations.trustedSince]: since };
  return { ...manifest, spec: { ...spec, template: { ...template, metadata: { ...metadata, annotations: carried } } } };
}

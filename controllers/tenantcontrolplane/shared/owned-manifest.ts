import { ownerReferenceOf } from '../../../api/meta.ts';
import type { Manifest } from '../../../api/meta.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { labels, project } from '../../../api/names.ts';

/** What differs between the objects of a TenantControlPlane in the management cluster. */
export interface OwnedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Value of the component label. */
  readonly component: string;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
  /** Everything except metadata. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The labels that every object of a TenantControlPlane carries. */
export function standardLabels(tcp: TenantControlPlane, component: string): Readonly<Record<string, string>> {
  return { [labels.project]: project, [labels.name]: tcp.metadata.name, [labels.component]: component };
}

/**
 * An object in the namespace of `tcp` and controlled by it, so that garbage collection removes it with its owner. The standard
 * labels win over `labels`: Steward finds its objects by them.
 */
export function ownedManifest(tcp: TenantControlPlane, object: OwnedObject): Manifest {
  const annotations = object.annotations ?? {};
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name: object.name,
      namespace: tcp.metadata.namespace,
      labels: { ...object.labels, ...standardLabels(tcp, object.component) },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [ownerReferenceOf(tcp)],
    },
    ...object.body,
  };
}

import { clusterStackLabels, ownedInstance } from '../../../api/names.ts';
import type { KindRef, Manifest } from '../../../../api/meta.ts';

/** A manifest of a chart that a release may not create, with a text that names the remedy. */
export interface RefusedManifest {
  readonly manifest: Manifest;
  readonly why: string;
}

/** What is to be applied of a chart, and what must not be. */
export interface ReleaseManifests {
  readonly manifests: readonly Manifest[];
  readonly refused: readonly RefusedManifest[];
}

/**
 * The objects of a release as they are applied: in the release's namespace, with the labels by which they are found. An
 * object of another namespace, or a cluster-scoped one, is refused: the release could not own it, and must not reach beyond
 * its namespace. So is an object that is not part of a ClusterClass, unless the operator allows its kind: the manager has
 * more permissions than those who push releases should get.
 */
export function releaseManifests(input: {
  readonly rendered: readonly { readonly manifest: Manifest; readonly kind: KindRef }[];
  readonly release: string;
  readonly namespace: string;
  /** `<provider>-<name>`. */
  readonly stack: string;
  /** `Kind.group` of further kinds that the operator allows. */
  readonly furtherKinds: ReadonlySet<string>;
}): ReleaseManifests {
  const { rendered, namespace, furtherKinds } = input;
  const refusals = rendered.flatMap(({ manifest, kind }) => {
    const why = refusal(manifest, kind, namespace) ?? strange(kind, furtherKinds);
    return why === undefined ? [] : [{ manifest, why }];
  });
  const bad = new Set(refusals.map(({ manifest }) => manifest));
  const labels = {
    [clusterStackLabels.instance]: ownedInstance,
    [clusterStackLabels.release]: input.release,
    [clusterStackLabels.stack]: input.stack,
  };
  const manifests = rendered
    .filter(({ manifest }) => !bad.has(manifest))
    .map(({ manifest }) => {
      const { metadata } = manifest;
      const rest = { ...manifest };
      delete rest.status;
      return { ...rest, metadata: { ...metadata, namespace, labels: { ...metadata.labels, ...labels } } };
    });
  return { manifests, refused: refusals };
}

/** The groups whose templates a ClusterClass refers to. */
const templateGroups: ReadonlySet<string> = new Set([
  'bootstrap.cluster.x-k8s.io',
  'controlplane.cluster.x-k8s.io',
  'infrastructure.cluster.x-k8s.io',
]);
const classKinds: ReadonlySet<string> = new Set([
  'ClusterClass.cluster.x-k8s.io',
  'MachineHealthCheckTemplate.cluster.x-k8s.io',
  'ClusterResourceSet.addons.cluster.x-k8s.io',
]);

function strange({ group, kind }: KindRef, further: ReadonlySet<string>): string | undefined {
  const name = `${kind}.${group}`;
  if (classKinds.has(name) || further.has(name)) return undefined;
  if (templateGroups.has(group) && kind.endsWith('Template')) return undefined;
  return `${name} is not part of a ClusterClass: an operator who trusts the releases can allow it with --cluster-stacks-kinds=${name}`;
}

function refusal({ metadata }: Manifest, { namespaced }: KindRef, own: string): string | undefined {
  if (!namespaced) {
    return 'it is cluster-scoped, but a release may only write to its own namespace: install it separately';
  }
  if (metadata.namespace === undefined || metadata.namespace === own) return undefined;
  return `metadata.namespace is ${metadata.namespace}, but a release may only write to its own namespace ${own}: remove it from the chart`;
}

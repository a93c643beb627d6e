import { additionalMetadata } from '../embedded/object-metadata.ts';
import { controlPlaneGroup } from '../names.ts';
import type { Infer, Input, NamespacedKind } from '../schema.ts';
import { described, obj, opt } from '../schema.ts';
import { contractLabels, contractVersions } from './contract-versions.ts';
import { sharedFields, sharedRules } from './steward-control-plane-spec.ts';

const stewardControlPlaneTemplateSpec = obj({
  template: described(
    obj({
      metadata: opt(described(additionalMetadata, 'Labels and annotations of the StewardControlPlanes.')),
      spec: described(
        obj(sharedFields, ...sharedRules),
        'Spec of the StewardControlPlanes, without version, replicas and endpoint, which the topology sets.',
      ),
    }),
    'What the StewardControlPlanes are created from.',
  ),
});
export type StewardControlPlaneTemplateSpec = Infer<typeof stewardControlPlaneTemplateSpec>;
export type StewardControlPlaneTemplateSpecInput = Input<typeof stewardControlPlaneTemplateSpec>;

/** Template from which a ClusterClass creates StewardControlPlanes. */
export const stewardControlPlaneTemplate: NamespacedKind<
  StewardControlPlaneTemplateSpec,
  never,
  StewardControlPlaneTemplateSpecInput
> = {
  group: controlPlaneGroup,
  version: 'v1alpha2',
  kind: 'StewardControlPlaneTemplate',
  plural: 'stewardcontrolplanetemplates',
  namespaced: true,
  singular: 'stewardcontrolplanetemplate',
  listKind: 'StewardControlPlaneTemplateList',
  shortNames: ['stcpt'],
  categories: ['cluster-api', 'steward'],
  versions: contractVersions,
  description: 'Template from which a ClusterClass creates StewardControlPlanes.',
  spec: stewardControlPlaneTemplateSpec,
  columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
  labels: contractLabels,
};

import type { CoreTypes } from '../../../api/core/core-schema.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { containers } from '../../../api/names.ts';

type Constraint = CoreTypes['TopologySpreadConstraint'];

/** What the choice depends on. */
export interface SpreadInput {
  /** The labels that all pods of the control plane have. */
  readonly selector: Readonly<Record<string, string>>;
  /** The image of kube-apiserver that is wanted. */
  readonly image: string;
  /** The Deployment as it stands. */
  readonly present: Deployment | undefined;
}

/**
 * How pods are spread whose author says nothing: over nodes, as far as that is possible, each generation of pods by itself. A
 * Deployment from before this was done gets it with its next version: it is no reason to replace pods.
 */
export function defaultSpread({ selector, image, present }: SpreadInput): readonly Constraint[] {
  const pod = present?.spec?.template.spec;
  const known = pod?.containers.find(({ name }) => name === containers.apiServer)?.image;
  if (known === image && (pod?.topologySpreadConstraints ?? []).length === 0) return [];
  return [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: { ...selector } },
      matchLabelKeys: ['pod-template-hash'],
    },
  ];
}

import type { CoreTypes } from '../../../api/core/core-schema.ts';
import type { Deployment } from '../../../api/core/kinds.ts';
import { containers } from '../../../api/names.ts';

type Constraint = CoreTypes['TopologySpreadConstraint'];

/** The inputs of the choice. */
export interface SpreadInput {
  /** The labels that all pods of the control plane have. */
  readonly selector: Readonly<Record<string, string>>;
  /** The wanted image of kube-apiserver. */
  readonly image: string;
  /** The existing Deployment. */
  readonly present: Deployment | undefined;
}

/**
 * How pods are spread by default: over nodes, if possible, each revision of pods separately. A Deployment from before this
 * default gets it with its next version: it is no reason to replace pods.
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

import type { ConditionRow } from '../../../condition-row.ts';
import { definitionOutdatedRow } from '../../../definition-outdated-row.ts';

/** Conditions of a ControlPlanePool. */
export const controlPlanePoolConditions = {
  Ready: {
    meaning: 'As many control planes as wanted are prepared, and can be claimed.',
    polarity: 'positive',
    reasons: {
      Ready: 'As many as wanted can be claimed.',
      Preparing: 'Some of the wanted control planes are not Ready yet. The message says how many.',
      CreationRefused:
        'The API server refused a control plane of this template, e.g. because of a quota or of the DataStore. The message contains the refusal. The creation is retried with back-off.',
      NotBecomingReady:
        'A prepared control plane has not been Ready for 10 minutes. The message names it. It is replaced, with a delay that doubles; no others are created in its place.',
    },
  },
  Deleting: {
    meaning: 'The pool is being deleted.',
    polarity: 'negative',
    reasons: { RemovingControlPlanes: 'The control planes that nobody has claimed have to be gone first.' },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

/** Conditions of a ControlPlaneClaim. */
export const controlPlaneClaimConditions = {
  Bound: {
    meaning: 'The claim has a control plane, and its kubeconfig is in the Secret that the status names.',
    polarity: 'positive',
    reasons: {
      Bound: 'The control plane belongs to this claim.',
      PoolNotFound: 'The ControlPlanePool does not exist, or is being deleted.',
      NoneReady:
        'No prepared control plane can be claimed at the moment. The next one is taken as soon as it is Ready.',
      SecretTaken: 'A Secret that does not belong to this claim has the name that its kubeconfig needs.',
      KubeconfigPending:
        'The claim has its control plane, whose CA or endpoint is not available. The message says why.',
      ControlPlaneGone:
        'The control plane of the claim was deleted. A claim never gets another one: it would have other keys and no data.',
    },
  },
  Deleting: {
    meaning: 'The claim is being deleted.',
    polarity: 'negative',
    reasons: { DeletingControlPlane: 'The control plane has to be gone first.' },
  },
  DefinitionOutdated: definitionOutdatedRow,
} as const satisfies Readonly<Record<string, ConditionRow>>;

import type {
  controlPlaneClaimConditions,
  controlPlanePoolConditions,
} from '../steward/v1alpha1/pool/condition-rows.ts';
import { definitionOutdatedRemedies } from './definition-outdated-remedies.ts';
import type { RemediesOf } from './remedies-of.ts';
import { healthy, passing, toDo } from './remedy.ts';

const pools = 'kubectl -n <namespace> get controlplanepools';
const controlPlanes = 'kubectl -n <namespace> get tcp -L steward.butlerlabs.dev/pool';

/** What to do about every reason of the conditions of a ControlPlanePool. */
export const controlPlanePoolRemedies = {
  Ready: {
    Ready: healthy,
    Preparing: passing('Wait until the control planes are Ready.', controlPlanes),
    CreationRefused: toDo(
      'Do what the refusal in the message says: correct spec.template, raise the quota of the namespace, or lower spec.minReady and spec.maxReady. The creation is retried by itself.',
      'kubectl -n <namespace> describe controlplanepool <name>',
    ),
    NotBecomingReady: toDo(
      'Look at the conditions of the control plane in the message, and do what they say. If the template is the cause, correct it: the control plane is then replaced at once.',
      controlPlanes,
    ),
  },
  Deleting: {
    RemovingControlPlanes: passing(
      'Wait until the control planes that nobody has claimed are gone. If one does not go, look at its condition Deleting.',
      controlPlanes,
    ),
  },
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof controlPlanePoolConditions>;

/** What to do about every reason of the conditions of a ControlPlaneClaim. */
export const controlPlaneClaimRemedies = {
  Bound: {
    Bound: healthy,
    PoolNotFound: toDo('Create the pool, or delete the claim and create one that names another pool.', pools),
    NoneReady: passing(
      'Wait until the pool has prepared a control plane. If claims wait often, raise spec.minReady or spec.maxReady of the pool.',
      pools,
    ),
    SecretTaken: toDo(
      'Delete the Secret in the message, or delete the claim and create one with another name.',
      'kubectl -n <namespace> get secrets',
    ),
    KubeconfigPending: passing(
      'Wait. If it stays, look at the conditions of the control plane that status.tenantControlPlane names.',
      'kubectl -n <namespace> get tcp',
    ),
    ControlPlaneGone: toDo(
      'Delete the claim, and create another one.',
      'kubectl -n <namespace> get controlplaneclaims',
    ),
  },
  Deleting: {
    DeletingControlPlane: passing(
      'Wait until the control plane is gone. If it does not go, look at its condition Deleting.',
      'kubectl -n <namespace> get tcp',
    ),
  },
  DefinitionOutdated: definitionOutdatedRemedies,
} as const satisfies RemediesOf<typeof controlPlaneClaimConditions>;

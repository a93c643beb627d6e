import type { Condition } from '../../../api/meta.ts';
import { remedyFor } from '../../../api/remedies/remedy-table.ts';
import { tenantControlPlaneConditions } from '../../../api/steward/v1alpha1/condition-rows.ts';
import type { TenantControlPlane } from '../../../api/steward/v1alpha1/tenant-control-plane.ts';
import { recipe } from '../../../controllers/tenantcontrolplane/recipe.ts';
import { conditionIn } from './situation.ts';
import type { Step, StepState } from './explanation.ts';

type Type = keyof typeof tenantControlPlaneConditions;

/** The conditions of the phases, in the order in which a person checks them. */
const order: readonly Type[] = [
  'StoreReady',
  'EndpointReady',
  'CertificatesReady',
  'KubeconfigsReady',
  'UpgradeAllowed',
  'ControlPlaneAvailable',
  'PodsProtected',
  'TenantConfigured',
  'AddonsReady',
];

/** The conditions whose phases the phases of `type` need, as the recipe says. */
function needsOf(type: Type): readonly string[] {
  const conditionOf = new Map(recipe.map(({ name, condition }) => [name, condition]));
  const needed = recipe
    // What only cleans up afterwards orders nothing that people wait for.
    .filter(({ condition, isSilentWhenBlocked }) => condition === type && !isSilentWhenBlocked)
    .flatMap(({ needs }) => needs.map((name) => conditionOf.get(name)));
  return order.filter((one) => one !== type && needed.includes(one));
}

function stateOf(condition: Condition | undefined, type: Type, podsStart: boolean): StepState {
  if (condition === undefined || condition.reason === 'Blocked' || condition.status === 'Unknown') return 'not yet';
  if (condition.status === 'True') return 'done';
  if (podsStart && condition.reason === 'PodsNotReady') return 'waiting';
  return remedyFor('TenantControlPlane', type, condition.reason)?.passes === true ? 'waiting' : 'failed';
}

/** The steps of a control plane, in the order in which they happen. `podsStart` says whether its pods have just been created. */
export function stepsOf(tcp: TenantControlPlane | undefined, podsStart: boolean): readonly Step[] {
  return order.map((type) => {
    const condition = conditionIn(tcp, type);
    const { reason = 'NotReported', message = '', lastTransitionTime: since } = condition ?? {};
    const state = stateOf(condition, type, podsStart);
    return { condition: type, state, reason, message, needs: needsOf(type), ...(since !== undefined && { since }) };
  });
}

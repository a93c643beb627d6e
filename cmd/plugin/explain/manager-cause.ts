import { toDo } from '../../../api/remedies/remedy.ts';
import { causeWith } from './condition-cause.ts';
import type { Cause } from './explanation.ts';
import type { Situation } from './situation.ts';

/** A Lease that was not renewed for so many times its duration has no living holder, even if the clocks differ by some seconds. */
const patience = 4;

const remedy = toDo(
  'Start the manager: until one leads, nothing in the status is up to date. See why its pods do not run, or why they do not become the leader.',
  'kubectl -n steward-system get pods,leases',
  'kubectl -n steward-system logs -l app.kubernetes.io/name=steward --tail=50 --prefix',
);

/** That no manager runs. It explains everything, because the status is then as old as the Lease. */
export function managerCause(situation: Situation): Cause | undefined {
  const { lease, now, managerNamespace } = situation;
  if (lease === 'unread') return undefined;
  const reason = 'ManagerNotRunning';
  const where = `Lease in ${managerNamespace}`;
  if (lease === undefined) {
    const what = `no manager has ever led in the namespace ${managerNamespace}: there is no Lease`;
    return causeWith(situation, { reason, where, what }, remedy);
  }
  const { renewTime, leaseDurationSeconds = 15, holderIdentity = '' } = lease.spec ?? {};
  const since = renewTime === undefined ? undefined : String(renewTime);
  if (holderIdentity !== '' && since !== undefined) {
    const ageMs = now.getTime() - Date.parse(since);
    if (ageMs < leaseDurationSeconds * patience * 1000) return undefined;
  }
  const who =
    holderIdentity === '' ? 'the last leader gave up its Lease' : `${holderIdentity} no longer renews its Lease`;
  return causeWith(situation, { reason, where, what: `no manager leads: ${who}`, since }, remedy);
}

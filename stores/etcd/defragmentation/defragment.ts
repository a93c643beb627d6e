import type { Clock } from '../../../runtime/clock.ts';
import type {
  DefragmentationRequest,
  DefragmentationStep,
  DefragmentationWait,
  DefragmentedServer,
} from '../../defragmentation.ts';
import { StoreError } from '../../store-error.ts';
import type { EtcdClient, LivingMember } from '../client.ts';
import { planDefragmentation } from './plan.ts';
import type { Plan } from './plan.ts';

type Calls = Pick<EtcdClient, 'members' | 'maintenance'>;

/** Held during a step. It does not begin with `/`, unlike all keys of tenants. */
export const defragmentationLock = 'steward.butlerlabs.dev/defragmentation';

/** The lock of a process that died ends after this time, in seconds: later than every step. */
const lockSeconds = 120;

/** The time limit of a step in milliseconds: within that of a reconcile. */
const stepMs = 25_000;

/**
 * Takes the next step of a defragmentation: see `planDefragmentation`. Before it, every member must be in sync and not blocked; so
 * nothing happens while another process defragments. It may be repeated and interrupted at any point. Throws only programming errors.
 */
export async function defragmentNext(client: Calls, request: DefragmentationRequest): Promise<DefragmentationStep> {
  try {
    const first = await planned(client, request);
    if (first.is === 'unneeded' || first.is === 'waits') return first;
    // An etcd whose quota is used up grants no lease. Every process then comes to the same step, and one that is blocked is noticed.
    if (await isFull(client)) return await act(client, request);
    return await locked(client, () => act(client, request));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return waits(error.reason === 'Unreachable' ? 'MembersUnhealthy' : 'Failed', error.message);
  }
}

async function act(client: Calls, request: DefragmentationRequest): Promise<DefragmentationStep> {
  const answers = await client.members();
  await Promise.all(answers.map(({ endpoint }) => client.maintenance.requireInSync(endpoint)));
  const plan = await planned(client, request);
  request.signal.throwIfAborted();
  switch (plan.is) {
    case 'unneeded':
    case 'waits':
      return plan;
    case 'disarm':
      for (const memberId of plan.memberIds) await client.maintenance.disarm(memberId);
      return { is: 'disarmed' };
    case 'defragment':
      return { is: 'defragmented', server: await defragment(client, plan.member, request.clock) };
  }
}

async function defragment(client: Calls, member: LivingMember, clock: Clock): Promise<DefragmentedServer> {
  const { endpoint } = member;
  const start = clock.monotonic();
  await client.maintenance.defragment(endpoint, stepMs);
  const pauseMs = Math.round(clock.monotonic() - start);
  const after = (await client.members()).find((answer) => answer.endpoint === endpoint);
  const sizeBytes = after !== undefined && 'version' in after ? after.sizeBytes : member.inUseBytes;
  return {
    ...{ endpoint, time: clock.now(), pauseMs, sizeBytes },
    freedBytes: Math.max(member.sizeBytes - sizeBytes, 0),
  };
}

async function planned(client: Calls, { limits, previous, clock }: DefragmentationRequest): Promise<Plan> {
  const [answers, members, alarms] = await Promise.all([
    client.members(),
    client.maintenance.listMembers(),
    client.maintenance.alarms(),
  ]);
  return planDefragmentation({ answers, members, alarms, limits, previous, now: clock.now() });
}

async function isFull(client: Calls): Promise<boolean> {
  return (await client.maintenance.alarms()).some(({ is }) => is === 'space');
}

async function locked(client: Calls, work: () => Promise<DefragmentationStep>): Promise<DefragmentationStep> {
  const lease = await client.maintenance.lock(defragmentationLock, lockSeconds);
  if (lease === undefined) return waits('Busy', 'another process is defragmenting a member');
  try {
    return await work();
  } finally {
    // When that fails, the lock ends by itself.
    await client.maintenance.unlock(lease).catch(() => undefined);
  }
}

function waits(reason: DefragmentationWait, message: string): DefragmentationStep {
  return { is: 'waits', reason, message };
}

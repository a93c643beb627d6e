import type { AttackResult } from './attack-result.ts';
import { CpuBudget } from './cpu-budget.ts';
import { defineKinds } from './define-kinds.ts';
import type { Attack } from './flood-rows.ts';
import { floodWrites } from './flood-writes.ts';
import type { FloodedWrites } from './flood-writes.ts';
import { overwriteObjects } from './overwrite-objects.ts';
import { slowHandshakes } from './slow-handshakes.ts';
import { stormWatches } from './storm-watches.ts';
import type { QuotaRoom } from './written-data.ts';

/** What the process of the hostile client is asked to do, once. */
export interface AttackOrder {
  readonly attack: Attack;
  readonly kubeconfig: string;
  readonly ms: number;
  readonly room: QuotaRoom;
}

/** What it answers. */
export interface AttackOutcome extends AttackResult {
  readonly denied?: number;
  readonly quota?: FloodedWrites['quota'];
  readonly cpuPercent: number;
}

async function attack({ attack: what, ...order }: AttackOrder): Promise<AttackOutcome> {
  const budget = new CpuBudget();
  const done = async (): Promise<Omit<AttackOutcome, 'cpuPercent'>> => {
    if (what === 'watches') return stormWatches(order, budget);
    if (what === 'overwrites') return overwriteObjects(order, budget);
    if (what === 'definitions') return defineKinds(order, budget);
    if (what === 'handshakes') return slowHandshakes(order);
    return floodWrites({ ...order, what }, budget);
  };
  return { ...(await done()), cpuPercent: budget.percent };
}

process.on('message', (order: AttackOrder) => {
  attack(order).then(
    (outcome) => process.send?.(outcome),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
// Nobody wants to know what it finds out anymore.
process.on('disconnect', () => process.exit(0));

import type { BreakableStore } from '../../../../stores/contract/faults/breakable-store.ts';
import { startNatsDataUnderTest } from './data-under-test.ts';

/** Three NATS servers, each of which has every stream. */
export async function startBreakableNats(): Promise<BreakableStore> {
  const store = await startNatsDataUnderTest('nats-server', 3);
  const dead = new Set<number>();
  return {
    tenant: async () => {
      const tenant = await store.tenant();
      return {
        ...tenant,
        killLeader: async () => {
          const leader = (await tenant.leader()) ?? '';
          const place = Number(/^nats-(\d+)$/.exec(leader)?.[1] ?? Number.NaN);
          if (Number.isNaN(place)) throw new Error(`the stream has no leader: ${leader}`);
          dead.add(place);
          await store.server.kill(place);
          return leader;
        },
      };
    },
    heal: async () => {
      for (const place of dead) await store.server.restart(place);
      dead.clear();
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

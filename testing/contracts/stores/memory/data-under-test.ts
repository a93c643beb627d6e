import type { ApiServerHand, DataUnderTest } from '../../../../stores/contract/tenancy-data-contract.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { MemoryStore } from '../../../fake/memory-driver.ts';
import type { MemoryTenancy } from '../../../fake/memory-tenancy.ts';
import { measuredContent } from '../measured-content.ts';

/** Times to live pass so much sooner: a test that waits for their end waits for moments. */
const haste = 20;

/** A store in memory that gives tenancies. */
export async function startMemoryDataUnderTest(): Promise<DataUnderTest> {
  const store = new MemoryStore({ tenancy: { most: 1000, now: () => performance.now() * haste } });
  const session = await store.driver.open('memory', new AbortController().signal);
  let count = 0;
  return {
    tenant: async () => {
      count += 1;
      const owner = `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`;
      const name = tenancyIdentifier(owner);
      const tenancy = { schema: name, user: name, owner };
      await session.ensure(tenancy);
      const data = await session.data?.(tenancy);
      if (data === undefined) throw new Error('the store in memory cannot copy');
      const memory = store.dataOf(name);
      return {
        data,
        hand: handOf(memory),
        anotherHand: () => Promise.resolve(handOf(memory)),
        ensure: () => session.ensure(tenancy),
        content: () => measuredContent(session, tenancy),
        compact: () => {
          memory.compacted = memory.revision;
          return Promise.resolve();
        },
        [Symbol.asyncDispose]: () => session.remove(tenancy),
      };
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function handOf(memory: MemoryTenancy): ApiServerHand {
  return {
    put: async (key, value, ttlSeconds) => {
      // Other tenants and the administrator get their turn.
      await new Promise(setImmediate);
      const ttl = ttlSeconds === undefined ? {} : { ttlMs: ttlSeconds * 1000 };
      memory.tenantWrites({ is: 'put', entry: { key, value, ...ttl } });
      return memory.revision;
    },
    delete: (key) =>
      Promise.resolve().then(() => {
        memory.tenantWrites({ is: 'deleted', key });
      }),
    get: (key) => {
      const entry = memory.content().get(key);
      return Promise.resolve(entry === undefined ? undefined : Buffer.from(entry.value));
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

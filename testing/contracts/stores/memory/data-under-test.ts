import type {
  ApiServerHand,
  DataUnderTest,
  VersionedValue,
} from '../../../../stores/contract/tenancy-data-contract.ts';
import { tenancyIdentifier } from '../../../../stores/tenancy-names.ts';
import { MemoryStore } from '../../../fake/memory-driver.ts';
import type { MemoryTenancy } from '../../../fake/memory-tenancy.ts';
import { countedWrites } from '../counted-writes.ts';
import { measuredContent } from '../measured-content.ts';
import { otherData } from '../other-data.ts';

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
        root: '',
        anotherData: () => otherData(session, tenancy),
        anotherHand: () => Promise.resolve(handOf(memory)),
        ensure: () => session.ensure(tenancy),
        content: () => measuredContent(session, tenancy),
        writes: () => countedWrites(session, tenancy),
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
    getVersion: (key) => Promise.resolve(versionOf(memory, key)),
    replace: (key, revision, value) =>
      Promise.resolve().then(() => {
        const version = versionOf(memory, key);
        if ((version?.revision ?? 0n) !== revision) return { is: 'conflict', found: { version } };
        memory.tenantWrites(value === undefined ? { is: 'deleted', key } : { is: 'put', entry: { key, value } });
        return { is: 'done', revision: memory.revision };
      }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function versionOf(memory: MemoryTenancy, key: string): VersionedValue | undefined {
  const entry = memory.content().get(key);
  const last = memory.log.findLast(({ change }) => change.is === 'put' && change.entry.key === key);
  return entry === undefined || last === undefined ? undefined : { value: entry.value, revision: last.revision };
}

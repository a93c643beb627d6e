import type { Driver, Session } from '../../../stores/driver.ts';
import type { TenancyData } from '../../../stores/tenancy-data.ts';
import type { Pass, ProductCall } from './product-call.ts';

/** The driver as a process uses it, each call of which is passed on by what stands in between. */
export function interceptedDriver<Config>(driver: Driver<Config>, pass: Pass): Driver<Config> {
  return { ...driver, open: async (config, signal) => interceptedSession(await driver.open(config, signal), pass) };
}

const callOf = (what: string, isWrite: boolean): ProductCall => ({
  to: 'datastore',
  isWrite,
  isAside: false,
  text: `datastore ${what}`,
});

function interceptedSession(session: Session, pass: Pass): Session {
  const read = <T>(what: string, send: () => Promise<T>): Promise<T> => pass(callOf(what, false), send);
  const write = <T>(what: string, send: () => Promise<T>): Promise<T> => pass(callOf(what, true), send);
  const revoke = session.revoke?.bind(session);
  const data = session.data?.bind(session);
  return {
    ping: () => read('ping', () => session.ping()),
    ensure: (tenancy) => write('ensure', () => session.ensure(tenancy)),
    remove: (tenancy) => write('remove', () => session.remove(tenancy)),
    measure: (tenancy, signal) => read('measure', () => session.measure(tenancy, signal)),
    countWrites: (tenancy, signal) => read('count writes', () => session.countWrites(tenancy, signal)),
    ...(revoke !== undefined && { revoke: (tenancy) => write('revoke', () => revoke(tenancy)) }),
    ...(data !== undefined && {
      data: async (tenancy) => interceptedData(await read('open data', () => data(tenancy)), { read, write }),
    }),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

type Send = <T>(what: string, send: () => Promise<T>) => Promise<T>;

function interceptedData(
  data: TenancyData,
  { read, write }: { readonly read: Send; readonly write: Send },
): TenancyData {
  const openUncopied = data.openUncopied?.bind(data);
  return {
    revision: () => read('revision', () => data.revision()),
    count: () => read('count', () => data.count()),
    pages: (revision) => interceptedPages(data.pages(revision), read),
    changes: (after, through) => read('changes', () => data.changes(after, through)),
    beginWrites: () => write('begin writes', () => data.beginWrites()),
    write: (changes) => write('write', () => data.write(changes)),
    endWrites: () => write('end writes', () => data.endWrites()),
    raise: (revision, onProgress) => write('raise', () => data.raise(revision, onProgress)),
    fence: () => write('fence', () => data.fence()),
    ...(openUncopied !== undefined && { openUncopied: () => write('open uncopied', () => openUncopied()) }),
    unfence: () => write('unfence', () => data.unfence()),
    [Symbol.asyncDispose]: () => data[Symbol.asyncDispose](),
  };
}

async function* interceptedPages<T>(pages: AsyncIterable<T>, read: Send): AsyncIterable<T> {
  const all = pages[Symbol.asyncIterator]();
  for (;;) {
    const next = await read('page', () => all.next());
    if (next.done === true) return;
    yield next.value;
  }
}

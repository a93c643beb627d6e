import type { Session } from './driver.ts';
import type { TenancyData } from './tenancy-data.ts';

/**
 * The same session, but `mayWrite` is called right before each call that changes the datastore, and throws if the process must not act
 * anymore: leadership may have ended during the wait for a connection. Reads are not guarded.
 */
export function guardSession(session: Session, mayWrite: () => void): Session {
  const write = writer(mayWrite);
  const revoke = session.revoke?.bind(session);
  const data = session.data?.bind(session);
  const openings = session.openings?.bind(session);
  const publishCompaction = session.publishCompaction?.bind(session);
  const compactEarly = session.compactEarly?.bind(session);
  const defragment = session.defragment?.bind(session);
  return {
    ping: () => session.ping(),
    ensure: (tenancy) => write(() => session.ensure(tenancy)),
    remove: (tenancy) => write(() => session.remove(tenancy)),
    measure: (tenancy, signal) => session.measure(tenancy, signal),
    countWrites: (tenancy, signal) => session.countWrites(tenancy, signal),
    ...(revoke !== undefined && { revoke: (tenancy) => write(() => revoke(tenancy)) }),
    ...(data !== undefined && { data: async (tenancy) => guardData(await data(tenancy), write) }),
    ...(openings !== undefined && { openings }),
    ...(publishCompaction !== undefined && { publishCompaction: () => write(publishCompaction) }),
    ...(compactEarly !== undefined && { compactEarly: (request) => write(() => compactEarly(request)) }),
    ...(defragment !== undefined && { defragment: (request) => write(() => defragment(request)) }),
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

type Write = <T>(send: () => Promise<T>) => Promise<T>;

const writer =
  (mayWrite: () => void): Write =>
  async (send) => {
    mayWrite();
    return send();
  };

function guardData(data: TenancyData, write: Write): TenancyData {
  const openUncopied = data.openUncopied?.bind(data);
  return {
    revision: () => data.revision(),
    count: () => data.count(),
    pages: (revision) => data.pages(revision),
    changes: (after, through) => data.changes(after, through),
    beginWrites: () => write(() => data.beginWrites()),
    write: (changes) => write(() => data.write(changes)),
    endWrites: () => write(() => data.endWrites()),
    raise: (revision, onProgress) => write(() => data.raise(revision, onProgress)),
    fence: () => write(() => data.fence()),
    ...(openUncopied !== undefined && { openUncopied: () => write(openUncopied) }),
    unfence: () => write(() => data.unfence()),
    [Symbol.asyncDispose]: () => data[Symbol.asyncDispose](),
  };
}

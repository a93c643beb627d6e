import type { TenancyData } from './tenancy-data.ts';

/** The same data with another action when it is disposed. */
export function withOtherEnd(data: TenancyData, end: () => Promise<void>): TenancyData {
  return {
    revision: () => data.revision(),
    count: () => data.count(),
    pages: (revision) => data.pages(revision),
    changes: (after, through) => data.changes(after, through),
    beginWrites: () => data.beginWrites(),
    write: (changes) => data.write(changes),
    endWrites: () => data.endWrites(),
    raise: (revision, onProgress) => data.raise(revision, onProgress),
    fence: () => data.fence(),
    ...(data.openUncopied !== undefined && { openUncopied: () => data.openUncopied?.() ?? Promise.resolve() }),
    unfence: () => data.unfence(),
    [Symbol.asyncDispose]: end,
  };
}

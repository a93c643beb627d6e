/** In place of watches on blockers, for tests in which polling is enough. */
export const noBlockerWatches = { follow: () => undefined, isUnwatched: () => true };

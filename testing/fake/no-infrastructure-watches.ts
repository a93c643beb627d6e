/** In place of watches on infrastructure clusters, for tests without them. */
export const noInfrastructureWatches = {
  follow: () => undefined,
  leave: () => undefined,
  watchFailure: () => undefined,
};

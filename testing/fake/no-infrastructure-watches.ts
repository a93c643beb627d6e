/** In place of watches on infrastructure clusters, where nothing is to be heard of them. */
export const noInfrastructureWatches = {
  follow: () => undefined,
  leave: () => undefined,
  watchFailure: () => undefined,
};

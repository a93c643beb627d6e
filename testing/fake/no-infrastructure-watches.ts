/** In place of watches on infrastructure clusters, where nothing is to be heard of them. */
export const deafInfrastructure = { follow: () => undefined, leave: () => undefined, deafness: () => undefined };

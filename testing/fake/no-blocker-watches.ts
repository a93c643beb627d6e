/** In place of watches on what is in the way, where nothing is to be heard of it: the clock asks again. */
export const noBlockerWatches = { follow: () => undefined, isUnwatched: () => true };

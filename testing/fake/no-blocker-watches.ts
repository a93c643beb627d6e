/** In place of watches on what is in the way, where nothing is to be heard of it: the clock asks again. */
export const deafBlockers = { follow: () => undefined, isDeaf: () => true };

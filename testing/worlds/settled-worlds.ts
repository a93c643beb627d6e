import type { TenantWorld } from './tenant-world.ts';

/**
 * Gives worlds in which all is done, for loops that need many of them: only the first one is prepared, which issues certificates and takes
 * most of the time of such a loop. The others hold the same, and their managers, which are new processes, have come to rest.
 * @param make gives one in which nothing has happened, with all hooks.
 */
export function settledWorlds<W extends TenantWorld>(
  make: () => W | Promise<W>,
  prepare: (world: W) => Promise<unknown>,
): () => Promise<W> {
  let first: Promise<W> | undefined;
  const prepared = async (): Promise<W> => {
    const world = await make();
    await prepare(world);
    return world;
  };
  return async () => {
    first ??= prepared();
    const [model, world] = [await first, await make()];
    await world.copyFrom(model);
    await world.settle();
    return world;
  };
}

/** Messages that are requested at once, and most of their bytes. */
const mostAtOnce = 128;
export const largestGroup = 4 * 1024 * 1024;

/** Cuts messages into groups that fit into memory together, in their order. One that is larger by itself is a group. */
export function* readGroups<T extends { readonly size: number }>(messages: readonly T[]): Iterable<readonly T[]> {
  let group: T[] = [];
  let bytes = 0;
  for (const message of messages) {
    if (group.length === mostAtOnce || (group.length > 0 && bytes + message.size > largestGroup)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(message);
    bytes += message.size;
  }
  if (group.length > 0) yield group;
}

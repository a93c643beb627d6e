/** Minutes that the programs of one module take to build on two processors, from an empty cache. */
const ofKubernetes = 4;
const ofOthers = 1;

/** Where the programs that are still to be made take longer, there is no time for more than the core of the tests. */
export const mostBuildMinutes = 6;

/** About how many minutes it takes to build programs of these folders below e2e/tools/modules. A folder counts once. */
export function buildMinutes(folders: readonly string[]): number {
  const minutesOf = (folder: string): number => (folder.startsWith('kubernetes-') ? ofKubernetes : ofOthers);
  return [...new Set(folders)].reduce((sum, folder) => sum + minutesOf(folder), 0);
}

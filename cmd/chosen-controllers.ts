import { UsageError } from './flags/flags.ts';

/** The controllers of the manager, by the names that their metrics and Events carry. */
export const controllerNames = [
  'clusteraddon',
  'clusteraddon-cluster',
  'clusterstack',
  'clusterstackrelease',
  'datastore',
  'kubeconfiggenerator',
  'stewardcontrolplane',
  'tenantcontrolplane',
] as const;

/** A controller of the manager. */
export type ControllerName = (typeof controllerNames)[number];

/**
 * Which controllers run, from a list as kube-controller-manager takes it: `*` is all of them, `name` one more, `-name` one less.
 * @throws UsageError for a name that is none, and when nothing is left to run.
 */
export function chosenControllers(list: string): ReadonlySet<ControllerName> {
  const words = list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const unknown = words.find((word) => word !== '*' && !isController(word.replace(/^-/, '')));
  if (unknown !== undefined) {
    throw new UsageError(
      `--controllers: "${unknown}" is not * or one of ${controllerNames.join(', ')}, optionally with a - before it`,
    );
  }
  const chosen = controllerNames.filter(
    (name) => !words.includes(`-${name}`) && (words.includes('*') || words.includes(name)),
  );
  if (chosen.length === 0) {
    throw new UsageError(
      `--controllers: "${list}" leaves no controller to run; * enables all of them, "*,-stewardcontrolplane" all but one`,
    );
  }
  return new Set(chosen);
}

const isController = (word: string): word is ControllerName => (controllerNames as readonly string[]).includes(word);

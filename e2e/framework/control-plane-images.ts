import type { Machine } from '../cluster/machines/machine.ts';
import { imageArchives } from '../tools/images.ts';
import { logStep } from './log.ts';

/** Gives a machine the control plane's images of a version, which are not among those that every machine has; returns their names. */
export async function giveControlPlaneImages(machine: Machine, kubernetes: string): Promise<readonly string[]> {
  const progress = (line: string): void => {
    logStep('images', line);
  };
  const given: string[] = [];
  for (const { name, path } of await imageArchives({ kubernetes, progress })) {
    if (!/kube-(apiserver|controller-manager|scheduler):/.test(name)) continue;
    await machine.importImage(path);
    given.push(name);
  }
  return given;
}

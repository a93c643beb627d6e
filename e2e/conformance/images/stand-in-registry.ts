import path from 'node:path';

import { registriesFolder } from '../../cluster/machines/containerd-config.ts';
import type { Worker } from '../../cluster/worker.ts';
import { RunningRegistry } from '../../../release/running-registry.ts';

const registryName = 'registry.k8s.io';

/** What a test pulls although the node has it. */
const pulled = 'e2e-test-images/kitten:1.8';

/**
 * Starts a registry in the machines' network that stands in for registry.k8s.io: it serves the image that a test wants to be pulled. The
 * others are on the nodes. It serves until it is disposed of.
 */
export async function standInForRegistry(workers: readonly Worker[]): Promise<RunningRegistry> {
  const [first] = workers;
  if (first === undefined) throw new RangeError('there is no worker');
  const { folder, network } = first.harness;
  const registry = await RunningRegistry.start(path.join(folder, 'registry'), undefined, network.gateway);
  try {
    const push = ['ctr', '-n', 'k8s.io', 'images', 'push', '--plain-http'];
    await first.machine.exec([...push, `${registry.host}/${pulled}`, `${registryName}/${pulled}`]);
    const hosts = `server = "https://${registryName}"\n[host."http://${registry.host}"]\n`;
    for (const { machine } of workers)
      await machine.writeFile(path.join(registriesFolder, registryName, 'hosts.toml'), hosts);
    return registry;
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    throw error;
  }
}

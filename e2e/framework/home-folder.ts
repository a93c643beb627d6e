import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { parse, stringify } from 'yaml';

import type { LocalProvider } from '../cluster/clusterctl-repository.ts';
import { writeClusterctlRepository } from '../cluster/clusterctl-repository.ts';
import { crds } from '../infrastructure/kinds.ts';
import { toolEnvironment } from '../tools/tool-environment.ts';

interface Configuration {
  readonly providers: readonly object[];
}

/** The home folder of somebody who follows the README on a machine without internet. */
export class ReadersHome {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The environment of their shell. */
  get variables(): Readonly<Record<string, string>> {
    return {
      HOME: this.folder,
      XDG_CONFIG_HOME: path.join(this.folder, '.config'),
      XDG_CACHE_HOME: path.join(this.folder, '.cache'),
      STEWARD_CACHE: toolEnvironment().cacheFolder,
      CLUSTERCTL_DISABLE_VERSIONCHECK: 'true',
      CLUSTER_TOPOLOGY: 'true',
      // Whoever looks for newer versions on the internet finds none, at once.
      GOPROXY: 'off',
    };
  }

  /**
   * An infrastructure provider under the name that the README stands for any with: definitions alone.
   * @returns the provider, for a local repository.
   */
  async infrastructure(name: string): Promise<LocalProvider> {
    const folder = path.join(this.folder, name);
    await mkdir(folder, { recursive: true });
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${name}-system` } };
    const components = [namespace, ...crds].map((manifest) => stringify(manifest)).join('---\n');
    await writeFile(path.join(folder, 'infrastructure-components.yaml'), components);
    const releaseSeries = [{ major: 1, minor: 0, contract: 'v1beta2' }];
    const metadata = { apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3', kind: 'Metadata', releaseSeries };
    await writeFile(path.join(folder, 'metadata.yaml'), stringify(metadata));
    return { type: 'InfrastructureProvider', name, version: 'v1.0.0', folder };
  }

  /** Has a clusterctl configuration of theirs find these providers in files, too, instead of on the internet. */
  async addProviders(file: string, providers: readonly LocalProvider[]): Promise<void> {
    const others = path.join(this.folder, 'others');
    await mkdir(others, { recursive: true });
    const written = await writeClusterctlRepository(others, providers, {});
    const [own, added] = await Promise.all([read(path.join(this.folder, file)), read(written)]);
    const merged = { ...own, providers: [...own.providers, ...added.providers] };
    await writeFile(path.join(this.folder, file), stringify(merged, { lineWidth: 0 }));
  }
}

async function read(file: string): Promise<Configuration> {
  return parse(await readFile(file, 'utf8')) as Configuration;
}

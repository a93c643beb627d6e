import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';

import type { ProviderReleaseOptions } from './provider-release.ts';
import { writeProviderRelease } from './provider-release.ts';

/** A repository that clusterctl reads from a folder of this machine. */
export interface LocalRepository {
  /** `control-plane-steward/<version>` below the repository. */
  readonly folder: string;
  readonly version: string;
  /** What belongs into clusterctl.yaml. */
  readonly configuration: string;
}

/**
 * Lays out this provider as clusterctl wants it, `<provider label>/<version>/<file>`. Other versions in the folder stay, so that
 * upgrades can be tried.
 */
export async function writeLocalRepository(
  out: string,
  options: ProviderReleaseOptions = {},
): Promise<LocalRepository> {
  const scratch = join(resolve(out), 'control-plane-steward', '.new');
  await rm(scratch, { recursive: true, force: true });
  const { name, type, version } = await writeProviderRelease(scratch, options);
  const folder = join(resolve(out), 'control-plane-steward', version);
  await rm(folder, { recursive: true, force: true });
  await rename(scratch, folder);
  const url = `file://${join(folder, 'control-plane-components.yaml')}`;
  return { folder, version, configuration: stringify({ providers: [{ name, type, url }] }, { lineWidth: 0 }) };
}

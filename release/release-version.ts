import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseVersion } from 'semver';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..');

interface Metadata {
  readonly releaseSeries: readonly { readonly major: number; readonly minor: number }[];
}

/**
 * The version of a release without a v: the given one, else that of package.json.
 * Throws when it is no SemVer, has build metadata (no OCI tag can hold its +), or when `metadata.yaml` does not know its series:
 * clusterctl would refuse the release.
 */
export async function releaseVersion(given?: string): Promise<string> {
  const text = given ?? (JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }).version;
  const version = parseVersion(text);
  if (version === null || version.build.length > 0) {
    throw new Error(
      `"${text}" is not a release version; use a SemVer version without +build, such as 0.2.0 or v0.2.0-rc.1`,
    );
  }
  const { releaseSeries } = parse(await readFile(join(root, 'metadata.yaml'), 'utf8')) as Metadata;
  const isKnown = releaseSeries.some(({ major, minor }) => major === version.major && minor === version.minor);
  if (!isKnown) {
    throw new Error(
      `metadata.yaml has no series ${version.major}.${version.minor}, so clusterctl would refuse ${version.version}: add the series with its contract`,
    );
  }
  return version.version;
}

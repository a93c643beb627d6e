import { parseReleaseMetadata } from '../../sources/release-metadata.ts';
import type { ReleaseMetadata } from '../../sources/release-metadata.ts';
import type { ReleaseHashes } from './build-release.ts';
import type { Files } from './release-files.ts';
import { StackError } from './stack-error.ts';
import { dashedVersion } from './stack-version.ts';

/** A release that was built once, here or by csctl. */
export interface KnownRelease {
  /** `<provider>-<stack>-<major>-<minor>-<version>`, with dashes. */
  readonly name: string;
  readonly prefix: string;
  readonly metadata: ReleaseMetadata;
  /** Absent in releases that were made without csctl. */
  readonly hashes?: ReleaseHashes;
  readonly files: Files;
}

const classChart = /^(.+)-cluster-class-(v.+)\.tgz$/;

/** Reads the files of a release. Throws StackError or BadReleaseError when they are none; `from` is what messages call it. */
export function readRelease(files: Files, from: string): KnownRelease {
  const metadata = files.get('metadata.yaml');
  if (metadata === undefined) throw new StackError(`${from} has no metadata.yaml; use the folder of a built release`);
  const [found, more] = [...files.keys()].flatMap((name) => {
    const [, prefix] = classChart.exec(name) ?? [];
    return prefix === undefined ? [] : [prefix];
  });
  if (found === undefined || more !== undefined) {
    throw new StackError(
      `${from} has ${found === undefined ? 'no' : 'more than one'} …-cluster-class-<version>.tgz; there must be exactly one`,
    );
  }
  const read = parseReleaseMetadata(metadata.toString('utf8'));
  const hashes = files.get('hashes.json');
  return {
    name: `${found}-${dashedVersion(read.clusterStack)}`,
    prefix: found,
    metadata: read,
    ...(hashes !== undefined && { hashes: JSON.parse(hashes.toString('utf8')) as ReleaseHashes }),
    files,
  };
}

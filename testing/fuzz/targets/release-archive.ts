import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { BadReleaseError } from '../../../clusterstacks/sources/asset-errors.ts';
import { defaultAssetLimits } from '../../../clusterstacks/sources/asset-limits.ts';
import { unpackArchive } from '../../../clusterstacks/sources/cache/unpack-archive.ts';
import { tarOf } from '../../worlds/stacks/stack-release.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const limits = { ...defaultAssetLimits, maxEntries: 50, maxUnpackedBytes: 1024 * 1024 };
const never = new AbortController().signal;

/** The archive of a release, before it was compressed. */
export const releaseArchive: FuzzTarget = {
  name: 'release-archive',
  from: 'the author of a release of a cluster stack',
  seeds: () => [
    tarOf([
      { path: 'chart/Chart.yaml', content: 'name: a' },
      { path: 'chart/templates/', type: 'Directory' },
    ]),
  ],
  refusals: [BadReleaseError],
  parse: async (input) => {
    const place = await mkdtemp(join(tmpdir(), 'steward-fuzz-'));
    try {
      const file = join(place, 'archive.tgz');
      await writeFile(file, gzipSync(input, { level: 1 }));
      await unpackArchive({ name: 'archive.tgz', file, folder: join(place, 'into') }, limits, never);
    } finally {
      const found = await readdir(place);
      await rm(place, { recursive: true });
      kept(
        found.every((name) => name === 'archive.tgz' || name === 'into'),
        'nothing is written beside the folder',
      );
    }
  },
};

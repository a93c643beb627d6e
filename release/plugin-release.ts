import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { fileEntry } from '../e2e/tools/image-contents.ts';
import { tarStream } from '../e2e/tools/tar-writer.ts';
import { krewManifest } from './krew-manifest.ts';
import { releaseVersion } from './release-version.ts';

const root = join(import.meta.dirname, '..');

/** The page of releases from which krew downloads. */
const downloads = 'https://github.com/butlerdotdev/steward/releases/download';

/** The files of the plugin's release. */
export interface PluginRelease {
  /** Path of the .tar.gz. */
  readonly archive: string;
  /** Path of the krew manifest. */
  readonly manifest: string;
  /** SHA-256 of the archive. */
  readonly sha256: string;
}

/**
 * Writes the archive of `kubectl steward` and the manifest by which krew installs it.
 * @param into folder that gets them.
 * @param given version with or without a v; that of package.json by default.
 */
export async function writePluginRelease(into: string, given?: string): Promise<PluginRelease> {
  const version = await releaseVersion(given);
  const built = await mkdtemp(join(tmpdir(), 'kubectl-steward-'));
  try {
    const build = [join(root, 'cmd', 'build-plugin.ts'), join(built, 'plugin'), version];
    await promisify(execFile)(process.execPath, build, { cwd: root });
    const programs = ['kubectl-steward', 'kubectl_complete-steward'].map((name) =>
      fileEntry(join(built, 'plugin', name), name),
    );
    const license = { ...fileEntry(join(root, 'LICENSE'), 'LICENSE'), mode: 0o644 };
    const parts: Buffer[] = [];
    for await (const part of tarStream([license, ...programs])) parts.push(part);
    const archive = gzipSync(Buffer.concat(parts), { level: 9 });
    // The tenth byte names the operating system (RFC 1952): of unknown, equal input makes equal output everywhere.
    archive[9] = 0xff;
    const sha256 = createHash('sha256').update(archive).digest('hex');
    const name = `kubectl-steward_v${version}.tar.gz`;
    const manifest = krewManifest({ version, uri: `${downloads}/v${version}/${name}`, sha256 });
    const paths = { archive: join(into, name), manifest: join(into, 'steward.yaml'), sha256 };
    await mkdir(into, { recursive: true });
    await writeFile(paths.archive, archive);
    await writeFile(paths.manifest, stringify(manifest));
    return paths;
  } finally {
    await rm(built, { recursive: true, force: true });
  }
}

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runCommand } from '../e2e/cluster/machines/run-command.ts';
import { resolveTools } from '../e2e/tools/resolve.ts';
import type { RegistryAccess } from './open-repository.ts';

const root = join(import.meta.dirname, '..');

/** The image repository that charts/steward names. */
const ownRepository = 'ghcr.io/butlerdotdev/steward';

/** A chart of a release. */
export interface ChartRelease {
  readonly chart: 'steward' | 'steward-crds';
  /** Without a v. */
  readonly version: string;
  /** Repository of the manager's image, without a tag. */
  readonly image: string;
  /** Folder that gets `<chart>-<version>.tgz`. */
  readonly into: string;
}

/**
 * Packages a chart with helm and pushes it below `repository`, which is HOST[:PORT]/PATH.
 * @returns the digest of its manifest.
 */
export async function pushChart(release: ChartRelease, repository: string, access: RegistryAccess): Promise<string> {
  const { chart, version, image, into } = release;
  const { helm } = await resolveTools(['helm']);
  const scratch = await mkdtemp(join(tmpdir(), 'steward-chart-'));
  try {
    const copy = join(scratch, chart);
    await cp(join(root, 'charts', chart), copy, { recursive: true });
    for (const file of ['values.yaml', 'values.schema.json', 'README.md']) {
      const text = await readFile(join(copy, file), 'utf8');
      await writeFile(join(copy, file), text.replaceAll(ownRepository, image));
    }
    const versions = ['--version', version, '--app-version', `v${version}`];
    await runCommand(helm, ['package', copy, '--destination', into, ...versions]);
    // In a file, because the arguments of a program can be read by everyone on the machine.
    const config = join(scratch, 'config.json');
    await writeFile(config, JSON.stringify({ auths: authsOf(repository, access) }), { mode: 0o600 });
    const { stdout, stderr } = await runCommand(helm, [
      ...['push', join(into, `${chart}-${version}.tgz`), `oci://${repository}`, '--registry-config', config],
      ...(access.plainHttp ? ['--plain-http'] : []),
    ]);
    const [, digest] = /^Digest: (sha256:[0-9a-f]{64})$/m.exec(`${stdout}\n${stderr}`) ?? [];
    if (digest === undefined) throw new Error(`helm pushed ${chart} without naming its digest: ${stdout}${stderr}`);
    return digest;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Credentials as the configuration of Docker has them. */
function authsOf(repository: string, { credentials }: RegistryAccess): object {
  if (credentials === undefined) return {};
  const [host = ''] = repository.split('/');
  const auth = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64');
  return { [host]: { auth } };
}

import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

import { runCommand } from '../e2e/cluster/machines/run-command.ts';
import { resolveTools } from '../e2e/tools/resolve.ts';
import type { Artifact } from './oci-content.ts';
import { artifactOf, content, jsonContent } from './oci-content.ts';

const root = join(import.meta.dirname, '..');

/** The charts of a release. */
export const charts = ['steward', 'steward-crds'] as const;

/** The image repository that charts/steward names. */
const ownRepository = 'ghcr.io/butlerdotdev/steward';

/** What a packaged chart is called and which image it installs. */
export interface ChartRelease {
  readonly chart: (typeof charts)[number];
  /** Without a v. */
  readonly version: string;
  /** Repository of the manager's image, without a tag. */
  readonly image: string;
}

/**
 * Packages a chart with helm into a folder, and answers it as registries keep charts (Helm, “Use OCI-based registries”).
 * @param into folder that gets `<chart>-<version>.tgz`.
 */
export async function chartArtifact(into: string, { chart, version, image }: ChartRelease): Promise<Artifact> {
  const { helm } = await resolveTools(['helm']);
  const copy = join(into, '.charts', chart);
  await mkdir(copy, { recursive: true });
  await cp(join(root, 'charts', chart), copy, { recursive: true });
  for (const file of ['values.yaml', 'values.schema.json', 'README.md']) {
    const text = await readFile(join(copy, file), 'utf8');
    await writeFile(join(copy, file), text.replaceAll(ownRepository, image));
  }
  const versions = ['--version', version, '--app-version', `v${version}`];
  await runCommand(helm, ['package', copy, '--destination', into, ...versions]);
  const archive = await readFile(join(into, `${chart}-${version}.tgz`));
  const { stdout } = await runCommand(helm, ['show', 'chart', join(into, `${chart}-${version}.tgz`)]);
  const config = jsonContent('application/vnd.cncf.helm.config.v1+json', parse(stdout));
  const layer = content('application/vnd.cncf.helm.chart.content.v1.tar+gzip', archive);
  return artifactOf(config, [layer], {
    annotations: { 'org.opencontainers.image.title': chart, 'org.opencontainers.image.version': version },
  });
}

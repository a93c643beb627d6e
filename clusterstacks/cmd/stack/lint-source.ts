import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseClusterAddonConfig } from '../../sources/cluster-addon-config.ts';
import { BadReleaseError } from '../../sources/asset-errors.ts';
import { RenderError } from '../../sources/render-error.ts';
import type { Renderer } from '../../sources/renderer.ts';
import { unpackArchive } from './archive.ts';
import { buildRelease } from './build-release.ts';
import { hashVersions } from './choose-versions.ts';
import type { Finding } from './finding.ts';
import type { Files } from './release-files.ts';
import { filesIn, parseYaml } from './source-tree.ts';
import type { SourceTree } from './source-tree.ts';
import { StackError } from './stack-error.ts';
import { withVersions } from './stamp.ts';

/** What linting a tree needs beside the tree. */
export interface SourceLint {
  readonly renderer: Renderer;
  /** A folder for temporary files. */
  readonly scratch: string;
  readonly signal: AbortSignal;
}

/** Everything that is wrong with a source tree: all of it, not only the first. */
export async function lintSource(source: SourceTree, tools: SourceLint): Promise<readonly Finding[]> {
  const work = await mkdtemp(join(tools.scratch, 'lint-'));
  try {
    const files = withVersions(source.files, hashVersions(source));
    for (const [path, bytes] of files) {
      await mkdir(dirname(join(work, path)), { recursive: true });
      await writeFile(join(work, path), bytes);
    }
    const charts = chartsOf(source);
    const rendered: (readonly Finding[])[] = [];
    for (const chart of charts) rendered.push(await lintChart({ ...source, files }, chart, { ...tools, work }));
    return [...nameFindings(source), ...stageFindings(source), ...buildFindings(source), ...rendered.flat()];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Folders that are rendered, each under the release name that it is rendered with later. */
interface ChartPlace {
  readonly folder: string;
  readonly releaseName: string;
  readonly namespace: string;
}

const stagesIn = ({ files }: SourceTree): readonly string[] =>
  [
    ...new Set(
      [...filesIn(files, 'cluster-addon').keys()]
        .filter((path) => path.includes('/'))
        .map((path) => path.split('/')[0] ?? ''),
    ),
  ].sort();

function chartsOf(source: SourceTree): readonly ChartPlace[] {
  const addon = (folder: string): ChartPlace => ({ folder, releaseName: 'cluster-addon', namespace: 'kube-system' });
  const addons = source.addons === 'stages' ? stagesIn(source).map((stage) => addon(`cluster-addon/${stage}`)) : [];
  return [
    { folder: 'cluster-class', releaseName: source.prefix, namespace: 'default' },
    ...addons,
    ...(source.addons === 'single-chart' ? [addon('cluster-addon')] : []),
  ];
}

function nameFindings(source: SourceTree): readonly Finding[] {
  const text = source.files.get('cluster-class/Chart.yaml')?.toString('utf8');
  if (text === undefined) return [];
  const { name } = parseYaml('cluster-class/Chart.yaml', text);
  const expected = `${source.prefix}-cluster-class`;
  // A tree for several minors has the name of one of them; each build writes its own.
  const isOfOtherMinor =
    source.files.has('versions.yaml') && typeof name === 'string' && /^.+-\d+-\d+-cluster-class$/.test(name);
  if (name === expected || isOfOtherMinor) return [];
  return [
    {
      where: 'cluster-class/Chart.yaml',
      problem: `its name is ${JSON.stringify(name)}; the manager expects ${expected}`,
    },
  ];
}

function stageFindings(source: SourceTree): readonly Finding[] {
  if (source.addons !== 'stages') return [];
  const where = 'clusteraddon.yaml';
  const folders = new Set(stagesIn(source));
  try {
    const { stages } = parseClusterAddonConfig(source.files.get(where)?.toString('utf8') ?? '');
    const named = Object.entries(stages).flatMap(([hook, list]) => list.map(({ name }) => ({ hook, name })));
    const missing = named
      .filter(({ name }) => !folders.has(name))
      .map(({ hook, name }) => ({
        where,
        problem: `${hook} has the stage ${name}, but there is no folder cluster-addon/${name}`,
      }));
    const unused = [...folders]
      .filter((folder) => !named.some(({ name }) => name === folder))
      .map((folder) => ({
        where: `cluster-addon/${folder}`,
        problem: 'no hook of clusteraddon.yaml has a stage with this name: it would never be applied',
      }));
    return [...missing, ...unused];
  } catch (error) {
    return [{ where, problem: messageOf(error) }];
  }
}

function buildFindings(source: SourceTree): readonly Finding[] {
  try {
    buildRelease(source, hashVersions(source));
    return [];
  } catch (error) {
    // What is wrong with the stages was found already.
    if (error instanceof BadReleaseError) return [];
    return [{ where: source.prefix, problem: messageOf(error) }];
  }
}

/** Only what people can fix becomes a finding. */
function messageOf(error: unknown): string {
  if (error instanceof StackError || error instanceof RangeError || error instanceof BadReleaseError)
    return error.message;
  throw error;
}

type ChartTools = SourceLint & { readonly work: string };

async function lintChart(source: SourceTree, place: ChartPlace, tools: ChartTools): Promise<readonly Finding[]> {
  const files = filesIn(source.files, place.folder);
  if (files.size === 0) return [];
  const where = place.folder;
  const missing = missingDependencies(files).map((problem) => ({ where, problem }));
  // Helm would say the same, less clearly.
  const rendering = missing.length > 0 ? [] : await findings(where, () => render(source, place, tools));
  const overwrite = files.get('overwrite.yaml')?.toString('utf8');
  const template = `{{ if false }}${overwrite ?? ''}{{ end }}`;
  const expanding =
    overwrite === undefined
      ? []
      : await findings(`${where}/overwrite.yaml`, () => tools.renderer.expand({ template, root: {} }, tools.signal));
  return [...missing, ...rendering, ...expanding, ...(await excludedVersions(source, place, tools))];
}

const render = (
  source: SourceTree,
  { folder, releaseName, namespace }: ChartPlace,
  { renderer, work, signal }: ChartTools,
): Promise<unknown> =>
  renderer.render({ chart: join(work, folder), releaseName, namespace, kubernetesVersion: source.kubernetes }, signal);

async function findings(where: string, work: () => Promise<unknown>): Promise<readonly Finding[]> {
  try {
    await work();
    return [];
  } catch (error) {
    // Without helm nothing can be said about charts, which is no finding about one of them.
    if (!(error instanceof RenderError) || error.failure === 'HelmMissing') throw error;
    return [{ where, problem: error.message }];
  }
}

function missingDependencies(files: Files): readonly string[] {
  const text = files.get('Chart.yaml')?.toString('utf8');
  if (text === undefined) return [];
  const { dependencies } = parseYaml('Chart.yaml', text);
  const list = Array.isArray(dependencies)
    ? (dependencies as { name?: unknown; version?: unknown; repository?: unknown }[])
    : [];
  return list.flatMap(({ name, version }) => {
    const start = `charts/${String(name)}`;
    const isThere = [...files.keys()].some(
      (path) => path.startsWith(`${start}/`) || (path.startsWith(`${start}-`) && path.endsWith('.tgz')),
    );
    if (isThere) return [];
    return [
      `the dependency ${String(name)} ${String(version)} is not in charts/: run \`helm dependency build\` there; releases must contain all dependencies`,
    ];
  });
}

/**
 * Charts inside of charts have a range of Kubernetes versions, too, but helm checks only the outermost one. So a chart with
 * only that range is rendered, and helm itself decides.
 */
async function excludedVersions(
  source: SourceTree,
  { folder }: ChartPlace,
  tools: ChartTools,
): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const { path, kubeVersion } of await ranges(filesIn(source.files, folder))) {
    const probe = await mkdtemp(join(tools.scratch, 'range-'));
    try {
      await writeFile(
        join(probe, 'Chart.yaml'),
        JSON.stringify({ apiVersion: 'v2', name: 'range', version: '0.0.0', kubeVersion }),
      );
      await mkdir(join(probe, 'templates'));
      await writeFile(join(probe, 'templates', 'nothing.yaml'), '');
      const request = {
        chart: probe,
        releaseName: 'range',
        namespace: 'default',
        kubernetesVersion: source.kubernetes,
      };
      await tools.renderer.render(request, tools.signal);
    } catch (error) {
      if (!(error instanceof RenderError) || error.failure === 'HelmMissing') throw error;
      found.push({
        where: `${folder}/${path}`,
        problem: `it only works with Kubernetes ${kubeVersion}, but this stack is for ${source.kubernetes}`,
      });
    } finally {
      await rm(probe, { recursive: true, force: true });
    }
  }
  return found;
}

/** The ranges of the charts below charts/, of folders and of archives. */
async function ranges(files: Files): Promise<readonly { readonly path: string; readonly kubeVersion: string }[]> {
  const found: { path: string; kubeVersion: string }[] = [];
  const look = (path: string, bytes: Buffer): void => {
    const { kubeVersion } = parseYaml(path, bytes.toString('utf8'));
    if (typeof kubeVersion === 'string' && kubeVersion !== '') found.push({ path, kubeVersion });
  };
  for (const [path, bytes] of files) {
    if (!path.startsWith('charts/')) continue;
    if (path.endsWith('/Chart.yaml')) look(path, bytes);
    if (!path.endsWith('.tgz')) continue;
    for (const [inner, text] of await unpackArchive(bytes, path)) {
      if (/^([^/]+\/)(charts\/[^/]+\/)*Chart\.yaml$/.test(inner)) look(`${path}: ${inner}`, text);
    }
  }
  return found;
}

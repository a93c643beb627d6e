import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { Key, Manifest } from '../../api/meta.ts';
import { RenderError } from '../sources/render-error.ts';
import type { ExpandRequest, Renderer, RenderRequest } from '../sources/renderer.ts';
import { helmErrorText } from './helm-error-text.ts';
import { hideValues } from './hide-values.ts';
import { isForOtherOccasions } from './lifecycle-hooks.ts';
import type { ReadTask } from './read-aside.ts';
import { readAside } from './read-aside.ts';
import { HelmRefusal, runHelm } from './run-helm.ts';
import { templateLiteral } from './template-literal.ts';
import { Turns } from './turns.ts';

/** How helm is run. */
export interface HelmOptions {
  /** Path of helm v4, or its name where `PATH` knows it. */
  readonly program: string;
  /** A folder for temporary files, which is created when it is missing. */
  readonly scratch: string;
  /** The folders that are searched for the program. Default: the usual folders of a container. */
  readonly searchPath?: string;
  /** How long one call may take. Default: a minute. */
  readonly timeoutMs?: number;
  /** How much one call may print. Default: 32 MiB. */
  readonly maxOutputBytes?: number;
  /** How much memory of its own one call may hold, in bytes; large charts take a tenth of it. Default: 256 MiB. */
  readonly maxMemoryBytes?: number;
  /** How many calls run at the same time. Default: two. */
  readonly atOnce?: number;
}

const mebibyte = 1024 * 1024;

/** Renders charts with the helm program, and folders of plain manifests without it. */
export class HelmRenderer implements Renderer {
  readonly #options: HelmOptions;
  readonly #turns: Turns;

  constructor(options: HelmOptions) {
    this.#options = options;
    this.#turns = new Turns(options.atOnce ?? 2);
  }

  async render(request: RenderRequest, signal: AbortSignal): Promise<readonly Manifest[]> {
    const chart = resolve(request.chart);
    const manifests = (await isChart(chart))
      ? await this.#template({ ...request, chart }, signal)
      : await this.#plain(request, signal);
    return manifests.filter((manifest) => !isForOtherOccasions(manifest));
  }

  async expand({ template, root, requester }: ExpandRequest, signal: AbortSignal): Promise<string> {
    const call = { requester: requester ?? { name: '' }, secrets: root, input: '' };
    const text = await this.#helm(signal, call, async (home) => {
      const chart = join(home, 'chart');
      await mkdir(join(chart, 'templates'), { recursive: true });
      await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: expand\nversion: 0.0.0\n');
      await writeFile(join(chart, 'template.txt'), template);
      await writeFile(
        join(chart, 'templates', 'expanded.yaml'),
        // In base64, because helm parses its output as YAML, which allows neither control characters nor U+FEFF.
        `{{ $root := ${templateLiteral(root)} }}expanded: "{{ tpl (.Files.Get "template.txt") $root | b64enc }}"\n`,
      );
      return ['template', 'expand', chart];
    });
    const line = text.split('\n').find((each) => each.startsWith('expanded: '));
    if (line === undefined) throw new RenderError('ChartBroken', 'helm did not print the expanded template');
    return Buffer.from(line.slice('expanded: "'.length, -1), 'base64').toString('utf8');
  }

  async #template(request: RenderRequest, signal: AbortSignal): Promise<readonly Manifest[]> {
    const { values, requester = { name: request.chart } } = request;
    const secrets = values === undefined ? undefined : readValues(values);
    const call = { requester, secrets, input: values ?? '' };
    const text = await this.#helm(signal, call, () => Promise.resolve(templateArguments(request)));
    return this.#read(requester, { text, origin: 'the rendered chart' }, signal);
  }

  async #plain(request: RenderRequest, signal: AbortSignal): Promise<readonly Manifest[]> {
    const { requester = { name: request.chart } } = request;
    const manifests: Manifest[] = [];
    for (const file of await plainFiles(request)) manifests.push(...(await this.#read(requester, file, signal)));
    return manifests;
  }

  /** Reading is as expensive as rendering, so it takes turns with it. */
  #read(requester: Key, task: ReadTask, signal: AbortSignal): Promise<readonly Manifest[]> {
    return this.#turns.run(requester, () => readAside(task, signal), signal);
  }

  /** Runs helm with the arguments that `prepare` returns, in a temporary folder. Messages do not contain `secrets`. */
  async #helm(
    signal: AbortSignal,
    { requester, secrets, input }: { readonly requester: Key; readonly secrets: unknown; readonly input: string },
    prepare: (home: string) => Promise<readonly string[]>,
  ): Promise<string> {
    const { program, scratch, searchPath = '/usr/local/bin:/usr/bin:/bin' } = this.#options;
    const { timeoutMs = 60_000, maxOutputBytes = 32 * mebibyte, maxMemoryBytes = 256 * mebibyte } = this.#options;
    const limits = { timeoutMs, maxOutputBytes, maxMemoryBytes };
    const work = async (): Promise<string> => {
      await mkdir(scratch, { recursive: true });
      const home = await mkdtemp(join(scratch, 'helm-'));
      try {
        const args = await prepare(home);
        return await runHelm({ program, args, input, home, searchPath, ...limits, signal });
      } catch (error) {
        if (!(error instanceof HelmRefusal)) throw error;
        const invalid = hideValues(helmErrorText(error.invalid), secrets);
        const isExcluded = /requires kubeVersion: .* incompatible with Kubernetes/.test(invalid);
        throw new RenderError(isExcluded ? 'KubernetesVersionExcluded' : 'ChartBroken', invalid);
      } finally {
        await rm(home, { recursive: true, force: true });
      }
    };
    return this.#turns.run(requester, work, signal);
  }
}

function templateArguments(request: RenderRequest): readonly string[] {
  return [
    'template',
    request.releaseName,
    request.chart,
    '--namespace',
    request.namespace,
    '--include-crds',
    '--skip-tests',
    ...(request.kubernetesVersion === undefined ? [] : ['--kube-version', request.kubernetesVersion]),
    ...(request.apiVersions ?? []).flatMap((apiVersion) => ['--api-versions', apiVersion]),
    ...(request.values === undefined ? [] : ['--values', '-']),
  ];
}

/** The values, to keep them out of messages; helm itself reports invalid YAML. */
function readValues(text: string): unknown {
  try {
    return parse(text, { version: '1.1', uniqueKeys: false, prettyErrors: false, logLevel: 'silent' }) as unknown;
  } catch {
    return text;
  }
}

/** Whether it is for helm: a package, or a folder with Chart.yaml. */
async function isChart(path: string): Promise<boolean> {
  const found = await statOf(path);
  if (found === undefined) {
    throw new RenderError('ChartMissing', `the release contains no chart ${path.slice(path.lastIndexOf('/') + 1)}`);
  }
  return found.isFile() || (await statOf(join(path, 'Chart.yaml'))) !== undefined;
}

async function statOf(path: string): Promise<Awaited<ReturnType<typeof stat>> | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** What a folder without Chart.yaml holds: all of its `*.yaml`, by name. */
async function plainFiles({ chart, values }: RenderRequest): Promise<readonly ReadTask[]> {
  const names = (await readdir(chart)).filter((name) => name.endsWith('.yaml') && name !== 'overwrite.yaml').sort();
  if (names.length === 0) {
    throw new RenderError(
      'ChartMissing',
      `${chart.slice(chart.lastIndexOf('/') + 1)} contains neither Chart.yaml nor manifests (*.yaml)`,
    );
  }
  if (values !== undefined) {
    throw new RenderError(
      'ChartBroken',
      `${chart.slice(chart.lastIndexOf('/') + 1)} contains plain manifests, which take no values: make it a chart, or remove its overwrite.yaml`,
    );
  }
  return Promise.all(names.map(async (name) => ({ text: await readFile(join(chart, name), 'utf8'), origin: name })));
}

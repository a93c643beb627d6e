import { readFile, readdir } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { parseDocument } from 'yaml';
import type { Files } from './release-files.ts';
import { StackError } from './stack-error.ts';

/** A stack as its authors write it, `providers/<provider>/<stack>/`, in memory. */
export interface SourceTree {
  readonly provider: string;
  readonly name: string;
  /** `vX.Y.Z`. */
  readonly kubernetes: string;
  /** The beginning of all its names: `<provider>-<name>-<major>-<minor>`. */
  readonly prefix: string;
  /** Stages, when there is clusteraddon.yaml; else one chart for all add-ons. */
  readonly addons: 'stages' | 'single-chart' | 'none';
  readonly files: Files;
}

/** The files below one folder of a tree, by their path from there. */
export function filesIn(files: Files, folder: string): Files {
  const start = `${folder}/`;
  return new Map(
    [...files].filter(([path]) => path.startsWith(start)).map(([path, bytes]) => [path.slice(start.length), bytes]),
  );
}

/** All files below a folder of this machine. Links are refused: a release has files only. */
export async function readFolder(folder: string): Promise<Files> {
  const root = resolve(folder);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw new StackError(
      `${folder} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'}); use the folder of a stack`,
    );
  });
  const files = new Map<string, Buffer>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) continue;
    if (!entry.isFile()) throw new StackError(`${path} is neither a file nor a folder; releases contain nothing else`);
    files.set(relative(root, path).split(sep).join('/'), await readFile(path));
  }
  return files;
}

const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/**
 * Reads a source tree. `minor` (`1.33`) chooses a row of versions.yaml, which is stamped into csctl.yaml and into the dependencies of
 * the add-ons' charts before anything else is done.
 * @throws StackError that names file, field, value and what is possible.
 */
export function readSource(given: Files, minor?: string): SourceTree {
  const files = minor === undefined ? given : stamped(given, minor);
  const text = files.get('csctl.yaml')?.toString('utf8');
  if (text === undefined)
    throw new StackError('there is no csctl.yaml; use the folder of a stack, such as providers/docker/steward');
  const config = fieldsOf(parseYaml('csctl.yaml', text), 'config');
  const provider = fieldsOf(config, 'provider');
  const type = nameOf('config.provider.type', provider.type);
  const name = nameOf('config.clusterStackName', config.clusterStackName);
  const kubernetes = config.kubernetesVersion;
  const [, major, wanted] = /^v(\d+)\.(\d+)\.\d+$/.exec(typeof kubernetes === 'string' ? kubernetes : '') ?? [];
  if (typeof kubernetes !== 'string' || major === undefined || wanted === undefined) {
    throw new StackError(
      `csctl.yaml: config.kubernetesVersion is ${shown(kubernetes)}; use a full version such as v1.33.1`,
    );
  }
  if (Object.keys(fieldsOf(provider, 'config')).length > 0) {
    throw new StackError(
      `csctl.yaml: config.provider.config needs the plugin csctl-${type}, which is not supported; build node images separately and remove it`,
    );
  }
  return {
    provider: type,
    name,
    kubernetes,
    prefix: `${type}-${name}-${major}-${wanted}`,
    addons: addonsOf(files),
    files,
  };
}

function addonsOf(files: Files): SourceTree['addons'] {
  if (files.has('clusteraddon.yaml')) return 'stages';
  if (files.has('cluster-addon/Chart.yaml')) return 'single-chart';
  if (filesIn(files, 'cluster-addon').size === 0) return 'none';
  throw new StackError('cluster-addon/ has folders, but there is no clusteraddon.yaml that says when each is applied');
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads one YAML document; what is wrong with it is said with the name of the file. */
export function parseYaml(file: string, text: string): Fields {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'silent' });
  const [problem] = document.errors;
  if (problem !== undefined) throw new StackError(`${file} is not valid YAML: ${problem.message}`);
  const value: unknown = document.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new StackError(`${file} contains no fields`);
  return value as Fields;
}

function fieldsOf(parent: Fields, field: string): Fields {
  const value = parent[field];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

const shown = (value: unknown): string => (value === undefined ? 'missing' : JSON.stringify(value));

function nameOf(field: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= 253 && namePattern.test(value)) return value;
  throw new StackError(`csctl.yaml: ${field} is ${shown(value)}; use a name of lower-case letters, digits and -`);
}

/** The tree with the versions of one row of versions.yaml: that of Kubernetes, and those of dependencies by their name. */
function stamped(files: Files, minor: string): Files {
  const rows = parseDocument(files.get('versions.yaml')?.toString('utf8') ?? '[]').toJS() as unknown;
  const list = Array.isArray(rows) ? (rows as Fields[]) : [];
  const row = list.find(({ kubernetes }) => String(kubernetes).replace(/^v/, '').startsWith(`${minor}.`));
  if (row === undefined) {
    const known = list.map(({ kubernetes }) => String(kubernetes)).join(', ');
    throw new StackError(
      `versions.yaml has no row for Kubernetes ${minor}; its rows are: ${known === '' ? 'none' : known}`,
    );
  }
  const { kubernetes, ...dependencies } = row;
  const result = new Map(files);
  result.delete('versions.yaml');
  const csctl = parseDocument(files.get('csctl.yaml')?.toString('utf8') ?? '');
  csctl.setIn(['config', 'kubernetesVersion'], `v${String(kubernetes).replace(/^v/, '')}`);
  result.set('csctl.yaml', Buffer.from(csctl.toString()));
  const classChart = files.get('cluster-class/Chart.yaml');
  if (classChart !== undefined) result.set('cluster-class/Chart.yaml', namedForMinor(classChart, minor));
  for (const [path, bytes] of files) {
    const [, folder] = /^(cluster-addon\/(?:.*\/)?)Chart\.yaml$/.exec(path) ?? [];
    if (folder === undefined || folder.includes('/charts/')) continue;
    const chart = parseDocument(bytes.toString('utf8'));
    const { dependencies: own } = chart.toJS() as { dependencies?: { name: string }[] };
    for (const [index, { name }] of (own ?? []).entries()) {
      const version = versionFor(dependencies, name);
      if (version === undefined) continue;
      chart.setIn(['dependencies', index, 'version'], version);
      // What is vendored for other minors is not a part of this release.
      for (const vendored of result.keys()) {
        if (vendored.startsWith(`${folder}charts/${name}-`) && vendored !== `${folder}charts/${name}-${version}.tgz`)
          result.delete(vendored);
      }
      // It contains the versions that were chosen for another minor.
      result.delete(`${folder}Chart.lock`);
    }
    result.set(path, Buffer.from(chart.toString()));
  }
  return result;
}

/** The chart of the class has the minor in its name, and a tree for several minors that of one of them. */
function namedForMinor(bytes: Buffer, minor: string): Buffer {
  const chart = parseDocument(bytes.toString('utf8'));
  const name = chart.get('name');
  const [, stack] = /^(.+)-\d+-\d+-cluster-class$/.exec(typeof name === 'string' ? name : '') ?? [];
  if (stack === undefined) return bytes;
  chart.set('name', `${stack}-${minor.replace('.', '-')}-cluster-class`);
  return Buffer.from(chart.toString({ lineWidth: 0 }));
}

/** Rows name dependencies with `-` or `_`. */
function versionFor(versions: Fields, dependency: string): string | undefined {
  const found = Object.entries(versions).find(
    ([name]) => name.replaceAll('_', '-') === dependency.replaceAll('_', '-'),
  );
  return found === undefined ? undefined : String(found[1]);
}

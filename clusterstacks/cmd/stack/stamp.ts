import { parseDocument } from 'yaml';
import type { Files } from './release-files.ts';
import { StackError } from './stack-error.ts';

/** The versions of a release, each with a dot. */
export interface ReleaseVersions {
  readonly clusterStack: string;
  readonly clusterAddon: string;
  readonly nodeImage: string;
}

const marks: Readonly<Record<string, keyof ReleaseVersions>> = {
  ClusterClassVersion: 'clusterStack',
  ClusterAddonVersion: 'clusterAddon',
  NodeImageVersion: 'nodeImage',
};

/**
 * The files with versions in place of `<< .ClusterClassVersion >>`, `<< .ClusterAddonVersion >>` and `<< .NodeImageVersion
 * >>`.
 * @throws StackError for an unknown placeholder, with its file and line.
 */
export function withVersions(files: Files, versions: ReleaseVersions): Files {
  return new Map(
    [...files].map(([path, bytes]) => {
      // One character for each byte, so that only the placeholders change in any file.
      const text = bytes.toString('latin1');
      const stamped = text.replaceAll(/<< \.(\w+) >>/g, (mark, name: string, at: number) => {
        const field = marks[name];
        if (field !== undefined) return versions[field];
        const line = text.slice(0, at).split('\n').length;
        throw new StackError(
          `${path}, line ${line}: ${mark} is not a known version; use one of ${Object.keys(marks).join(', ')}`,
        );
      });
      return [path, stamped === text ? bytes : Buffer.from(stamped, 'latin1')];
    }),
  );
}

/** A Chart.yaml with another name and version, its comments and order kept. */
export function withChartName(files: Files, chart: { readonly name?: string; readonly version: string }): Files {
  const bytes = files.get('Chart.yaml');
  if (bytes === undefined) throw new StackError('the chart has no Chart.yaml');
  const document = parseDocument(bytes.toString('utf8'));
  if (chart.name !== undefined) document.set('name', chart.name);
  document.set('version', chart.version);
  return new Map([...files, ['Chart.yaml', Buffer.from(document.toString({ lineWidth: 0 }))]]);
}

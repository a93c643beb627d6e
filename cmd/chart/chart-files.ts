import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { crd } from '../../api/generate/crd.ts';
import type { DeclaredRole } from '../../api/generate/role.ts';
import type { Manifest } from '../../api/meta.ts';
import type { Kind } from '../../api/schema.ts';
import { chartValues } from './chart-values.ts';
import { rulesPartials } from './rules-partials.ts';
import { valuesSchema } from './values-schema.ts';
import { withValuesTable } from './values-table.ts';
import { webhookPartials } from './webhook-partials.ts';

/** What the code says that the charts contain. */
export interface ChartSources {
  readonly kinds: readonly Kind[];
  readonly roles: readonly DeclaredRole[];
  readonly clusterStacksRole: DeclaredRole;
}

/** The folder of which every file follows from the kinds. */
export const definitionFolder = 'charts/steward-crds/files';

/** The files of the two charts that follow from code, manifests and `values.yaml`: path from the repository's root → content. */
export function chartFiles(root: string, sources: ChartSources): ReadonlyMap<string, string> {
  const { kinds, roles, clusterStacksRole } = sources;
  const read = (file: string): string => readFileSync(join(root, file), 'utf8');
  const webhooks = ['config/webhook/webhooks.yaml', 'config/clusterstacks/webhooks.yaml'].flatMap((file) =>
    parseAllDocuments(read(file), { version: '1.1' }).map((document) => document.toJS() as Manifest),
  );
  return new Map([
    ...['steward', 'steward-crds'].flatMap((chart) => describedFiles(chart, read)),
    ['charts/steward/templates/_rules.tpl', rulesPartials(roles, clusterStacksRole)],
    ['charts/steward/templates/_webhooks.tpl', webhookPartials(webhooks)],
    ...kinds.map((kind) => [`${definitionFolder}/${kind.plural}.yaml`, definitionText(kind)] as const),
  ]);
}

/**
 * A definition as JSON, which is YAML without indentation: Helm stores the files of a chart in the Secret of each release, where two thirds
 * of a definition would be spaces. `config/crd` has the same for readers.
 */
const definitionText = (kind: Kind): string =>
  `# Made by \`npm run gen\`; do not edit.\n${JSON.stringify(crd(kind))}\n`;

/** What follows from `values.yaml`, and the version of package.json. */
function describedFiles(chart: string, read: (file: string) => string): readonly (readonly [string, string])[] {
  const file = (name: string): string => `charts/${chart}/${name}`;
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  const values = chartValues(read(file('values.yaml')));
  const about = read(file('Chart.yaml'))
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^appVersion: .*$/m, `appVersion: v${version}`);
  return [
    [file('Chart.yaml'), about],
    [file('values.schema.json'), valuesSchema(`Values of the chart ${chart}`, values)],
    [file('README.md'), withValuesTable(read(file('README.md')), values)],
  ];
}

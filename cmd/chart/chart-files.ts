import type { DeclaredRole } from '../../api/generate/role.ts';
import { yamlText } from '../../api/generate/yaml-text.ts';
import type { Manifest } from '../../api/meta.ts';
import type { Kind } from '../../api/schema.ts';
import { accessTemplate } from './access-template.ts';
import { bootstrapAccessTemplate } from './bootstrap-access-template.ts';
import type { ChartValues } from './chart-value.ts';
import type { ClusterStacksSources } from './cluster-stacks-template.ts';
import { clusterStacksTemplate } from './cluster-stacks-template.ts';
import { definitionTemplate } from './definition-template.ts';
import { definitionValues } from './definition-values.ts';
import { etcdTemplate } from './etcd-template.ts';
import { definitionsPage, stewardPage } from './readme.ts';
import { stewardValues } from './steward-values.ts';
import { valuesFile } from './values-file.ts';
import { valuesSchema } from './values-schema.ts';
import { webhookTemplate } from './webhook-template.ts';

/** What the charts are made of, beside the templates that are written by hand. */
export interface ChartSources {
  /** Of package.json. */
  readonly version: string;
  readonly kinds: readonly Kind[];
  readonly roles: readonly DeclaredRole[];
  /** Manifests of the folders of config/ that name them, without what the roles say. */
  readonly access: readonly Manifest[];
  readonly bootstrapAccess: readonly Manifest[];
  readonly webhooks: readonly Manifest[];
  readonly etcd: readonly Manifest[];
  readonly clusterStacks: ClusterStacksSources;
}

/** The folder of which every file follows from the kinds. */
export const definitionTemplates = 'charts/steward-crds/templates';

/** Every generated file of the two charts: path from the repository's root → content. */
export function chartFiles(sources: ChartSources): ReadonlyMap<string, string> {
  const { version, kinds, roles, access, bootstrapAccess, webhooks, etcd, clusterStacks } = sources;
  return new Map([
    ...common(
      'steward',
      version,
      'Hosted Kubernetes control planes, and a control-plane provider for Cluster API',
      stewardValues,
    ),
    ['charts/steward/README.md', stewardPage(stewardValues)],
    ['charts/steward/templates/access.yaml', accessTemplate(roles, access)],
    ['charts/steward/templates/kubeadm-bootstrap-access.yaml', bootstrapAccessTemplate(bootstrapAccess)],
    ['charts/steward/templates/webhooks.yaml', webhookTemplate(webhooks)],
    ['charts/steward/templates/etcd.yaml', etcdTemplate(etcd)],
    ['charts/steward/templates/cluster-stacks.yaml', clusterStacksTemplate(clusterStacks)],
    ...common('steward-crds', version, 'CustomResourceDefinitions of Steward', definitionValues),
    ['charts/steward-crds/README.md', definitionsPage(definitionValues)],
    ...kinds.map((kind) => [`${definitionTemplates}/${kind.plural}.yaml`, definitionTemplate(kind)] as const),
  ]);
}

const yamlHeader = '# Made by `npm run gen`; do not edit.\n';

function common(
  name: string,
  version: string,
  description: string,
  values: ChartValues,
): readonly (readonly [string, string])[] {
  const chart = {
    apiVersion: 'v2',
    name,
    description,
    type: 'application',
    version,
    appVersion: `v${version}`,
    kubeVersion: '>=1.29.0-0',
    home: 'https://github.com/butlerdotdev/steward',
    sources: ['https://github.com/butlerdotdev/steward'],
    keywords: ['kubernetes', 'control-plane', 'cluster-api', 'multi-tenancy'],
    annotations: { 'artifacthub.io/license': 'Apache-2.0' },
  };
  const schema = valuesSchema(`Values of the chart ${name}`, values);
  return [
    [`charts/${name}/Chart.yaml`, yamlHeader + yamlText(chart)],
    [`charts/${name}/values.yaml`, valuesFile(values)],
    [`charts/${name}/values.schema.json`, `${JSON.stringify(schema, null, 2)}\n`],
  ];
}

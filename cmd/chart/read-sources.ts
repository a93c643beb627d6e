import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { Manifest } from '../../api/meta.ts';
import type { ChartSources } from './chart-files.ts';

/** Reads what the charts are made of from the manifests that are written by hand. */
export function readChartSources(root: string): Omit<ChartSources, 'kinds' | 'roles' | 'clusterStacks'> & {
  readonly clusterStacks: Omit<ChartSources['clusterStacks'], 'role'>;
} {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const documents = (file: string): readonly Manifest[] =>
    parseAllDocuments(readFileSync(join(root, file), 'utf8'), { version: '1.1' }).map(
      (document) => document.toJS() as Manifest,
    );
  const resourcesOf = (folder: string, without: readonly string[] = []): readonly Manifest[] => {
    const kustomization = parse(readFileSync(join(root, folder, 'kustomization.yaml'), 'utf8')) as {
      readonly resources: readonly string[];
    };
    return kustomization.resources
      .filter((file) => !without.includes(file))
      .flatMap((file) => documents(join(folder, file)));
  };
  return {
    version,
    access: resourcesOf('config/rbac', ['role.yaml']),
    bootstrapAccess: documents('clusterctl/kubeadm-bootstrap-rbac.yaml'),
    webhooks: resourcesOf('config/webhook'),
    etcd: resourcesOf('config/datastores/etcd'),
    clusterStacks: {
      bindings: documents('config/clusterstacks/bindings.yaml'),
      webhooks: documents('config/clusterstacks/webhooks.yaml'),
    },
  };
}

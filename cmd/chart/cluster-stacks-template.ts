import type { DeclaredRole } from '../../api/generate/role.ts';
import { roleManifest } from '../../api/generate/role.ts';
import type { Manifest } from '../../api/meta.ts';
import { placed } from './placed.ts';
import { onlyIf, templateHeader, templateText } from './template-text.ts';

/** The manifests of the optional layer of cluster stacks. */
export interface ClusterStacksSources {
  readonly role: DeclaredRole;
  readonly bindings: readonly Manifest[];
  readonly webhooks: readonly Manifest[];
}

/** Rights and webhooks of the layer of cluster stacks as a template, under its switch; its definitions are in the other chart. */
export function clusterStacksTemplate({ role, bindings, webhooks }: ClusterStacksSources): string {
  const access = [roleManifest(role), ...bindings].map(documentOf).join('');
  const body = `${onlyIf('.Values.rbac.create', access)}${webhooks.map(documentOf).join('')}`;
  return templateHeader + onlyIf('(.Values.clusterStacks).enabled', body);
}

const documentOf = (manifest: Manifest): string => `---\n${templateText(placed(manifest))}`;

import type { Kind } from '../schema.ts';
import { crd } from './crd.ts';
import { conditionsPage, kindPage } from './reference-docs.ts';
import type { DeclaredRole } from './role.ts';
import { roleManifest } from './role.ts';
import { yamlText } from './yaml-text.ts';

/** Directories of which every file is generated: one that is not is left over and has to go. */
export const generatedDirectories = ['config/crd', 'docs/reference/generated'] as const;

const yamlHeader = '# Made by `npm run gen`; do not edit.\n';

/** `group_plural.yaml`, as the Kubernetes ecosystem names definition files. */
const crdFile = (kind: Kind): string => `${kind.group}_${kind.plural}.yaml`;

/** The kind's name in kebab case, for its reference page. */
const pageFile = (kind: Kind): string => `${kind.kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

/** Everything that is generated: path from the repository's root → content. */
export function generatedFiles(kinds: readonly Kind[], roles: readonly DeclaredRole[]): ReadonlyMap<string, string> {
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: kinds.map(crdFile).sort(),
  };
  return new Map([
    ...kinds.map((kind) => [`config/crd/${crdFile(kind)}`, yamlHeader + yamlText(crd(kind))] as const),
    ['config/crd/kustomization.yaml', yamlHeader + yamlText(kustomization)],
    ['config/rbac/role.yaml', yamlHeader + roles.map((role) => yamlText(roleManifest(role))).join('---\n')],
    ...kinds.map((kind) => [`docs/reference/generated/${pageFile(kind)}`, kindPage(kind)] as const),
    ['docs/reference/generated/conditions.md', conditionsPage()],
  ]);
}

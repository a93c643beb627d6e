import { clusterStackGroup } from '../../clusterstacks/api/names.ts';
import type { Kind } from '../schema.ts';
import { crd } from './crd.ts';
import { conditionsPage, kindPage } from './reference-docs.ts';
import type { DeclaredRole } from './role.ts';
import { roleManifest } from './role.ts';
import { yamlText } from './yaml-text.ts';

/** Directories in which every file is generated. Any other file is stale and must be deleted. */
export const generatedDirectories = ['config/crd', 'config/clusterstacks/crd', 'docs/reference/generated'] as const;

/** Directory for the CustomResourceDefinition of a kind. Those of the optional layer are installed only with it. */
const definitionFolder = ({ group }: Kind): string =>
  group === clusterStackGroup ? 'config/clusterstacks/crd' : 'config/crd';

const yamlHeader = '# Made by `npm run gen`; do not edit.\n';

/** `group_plural.yaml`, the usual name of CustomResourceDefinition files. */
const crdFile = (kind: Kind): string => `${kind.group}_${kind.plural}.yaml`;

/** Reference page of a kind: its name in kebab case. */
const pageFile = (kind: Kind): string => `${kind.kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

/** The roles as one file of manifests. */
export function rolesFile(roles: readonly DeclaredRole[]): string {
  return yamlHeader + roles.map((role) => yamlText(roleManifest(role))).join('---\n');
}

/** All generated files: path relative to the repository root → content. */
export function generatedFiles(kinds: readonly Kind[], roles: readonly DeclaredRole[]): ReadonlyMap<string, string> {
  return new Map([
    ...definitionFiles(kinds),
    ['config/rbac/role.yaml', rolesFile(roles)],
    ...kinds.map((kind) => [`docs/reference/generated/${pageFile(kind)}`, kindPage(kind)] as const),
    ['docs/reference/generated/conditions.md', conditionsPage()],
  ]);
}

/** The CustomResourceDefinitions, and a kustomization in each directory. */
function definitionFiles(kinds: readonly Kind[]): readonly (readonly [string, string])[] {
  return [...Map.groupBy(kinds, definitionFolder)].flatMap(([folder, placed]) => {
    const kustomization = {
      apiVersion: 'kustomize.config.k8s.io/v1beta1',
      kind: 'Kustomization',
      resources: placed.map(crdFile).sort(),
    };
    return [
      ...placed.map((kind) => [`${folder}/${crdFile(kind)}`, yamlHeader + yamlText(crd(kind))] as const),
      [`${folder}/kustomization.yaml`, yamlHeader + yamlText(kustomization)] as const,
    ];
  });
}

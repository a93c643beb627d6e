import { clusterStackGroup } from '../clusterstack/names.ts';
import type { Kind } from '../schema.ts';
import { crd } from './crd.ts';
import { conditionsPage, kindPage } from './reference-docs.ts';
import type { DeclaredRole } from './role.ts';
import { roleManifest } from './role.ts';
import { yamlText } from './yaml-text.ts';

/** Directories of which every file is generated: one that is not is left over and has to go. */
export const generatedDirectories = ['config/crd', 'config/clusterstacks/crd', 'docs/reference/generated'] as const;

/** Where the definitions of a kind go: those of an optional layer are installed with it and not before. */
const definitionFolder = ({ group }: Kind): string =>
  group === clusterStackGroup ? 'config/clusterstacks/crd' : 'config/crd';

const yamlHeader = '# Made by `npm run gen`; do not edit.\n';

/** `group_plural.yaml`, as the Kubernetes ecosystem names definition files. */
const crdFile = (kind: Kind): string => `${kind.group}_${kind.plural}.yaml`;

/** The kind's name in kebab case, for its reference page. */
const pageFile = (kind: Kind): string => `${kind.kind.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`;

/** The roles as one file of manifests. */
export function rolesFile(roles: readonly DeclaredRole[]): string {
  return yamlHeader + roles.map((role) => yamlText(roleManifest(role))).join('---\n');
}

/** Everything that is generated: path from the repository's root → content. */
export function generatedFiles(kinds: readonly Kind[], roles: readonly DeclaredRole[]): ReadonlyMap<string, string> {
  return new Map([
    ...definitionFiles(kinds),
    ['config/rbac/role.yaml', rolesFile(roles)],
    ...kinds.map((kind) => [`docs/reference/generated/${pageFile(kind)}`, kindPage(kind)] as const),
    ['docs/reference/generated/conditions.md', conditionsPage()],
  ]);
}

/** The definitions, and in each folder the list of them. */
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

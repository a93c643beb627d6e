import type { Manifest } from '../../api/meta.ts';
import type { DeclaredRole } from '../../api/generate/role.ts';
import { roleManifest } from '../../api/generate/role.ts';
import { placed } from './placed.ts';
import { onlyIf, templateHeader, templateText } from './template-text.ts';

const tenants = '.Values.tenantControlPlanes.enabled';
const clusterApi = '.Values.clusterApi.enabled';

/** The parts of roles that belong to one half of the program; what is not named here is needed by both. */
const halves: Readonly<Record<string, string>> = {
  datastore: tenants,
  kubeconfiggenerator: tenants,
  tenantcontrolplane: tenants,
  migrate: tenants,
  stewardcontrolplane: clusterApi,
};

/** Manifests of config/rbac that belong to one half, by a part of their names. */
const halvesOfNames: readonly (readonly [RegExp, string])[] = [
  [/capi|infrastructure|kubeadm-bootstrap|cluster-api|external/, clusterApi],
  [/migrate/, tenants],
];

/**
 * All rights of the manager as a template: the roles that the code declares, with the rules of each half under its switch, and
 * the other manifests of config/rbac.
 */
export function accessTemplate(roles: readonly DeclaredRole[], others: readonly Manifest[]): string {
  const documents = [
    ...roles.map(roleTemplate),
    ...others
      .filter((manifest) => !isOwnAccount(manifest))
      .map((manifest) => {
        const body = `---\n${templateText(placed(manifest))}`;
        const condition = halvesOfNames.find(([name]) => name.test(manifest.metadata.name))?.[1];
        return condition === undefined ? body : onlyIf(condition, body);
      }),
  ];
  return templateHeader + onlyIf('.Values.rbac.create', documents.join(''));
}

/** The manager's own account is described by values. */
const isOwnAccount = ({ kind, metadata }: Manifest): boolean =>
  kind === 'ServiceAccount' && metadata.name === 'steward-controller-manager';

function roleTemplate(role: DeclaredRole): string {
  const { apiVersion, kind, metadata } = roleManifest(role);
  const head = { apiVersion, kind, metadata };
  const conditions = [...new Set(role.parts.map(({ name }) => halves[name]))];
  const rules = conditions.map((condition) => {
    const parts = role.parts.filter(({ name }) => halves[name] === condition);
    const manifest = roleManifest({ ...role, parts }) as Manifest & { readonly rules: unknown };
    const text = templateText(placed(manifest.rules));
    return condition === undefined ? text : onlyIf(condition, text);
  });
  const body = `---\n${templateText(placed(head))}rules:\n${rules.join('')}`;
  const [only] = conditions;
  return conditions.length === 1 && only !== undefined ? onlyIf(only, body) : body;
}

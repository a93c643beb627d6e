import type { DeclaredRole } from '../../api/generate/role.ts';
import { roleManifest } from '../../api/generate/role.ts';
import type { Manifest, PolicyRule } from '../../api/meta.ts';
import { partial, partialsHeader } from './partial.ts';

/** The parts of roles that belong to one half of the program, by the value that enables it; the others are needed by both. */
const halves: Readonly<Record<string, string>> = {
  datastore: '.tenantControlPlanes',
  kubeconfiggenerator: '.tenantControlPlanes',
  tenantcontrolplane: '.tenantControlPlanes',
  retainedcontrolplane: '.tenantControlPlanes',
  controlplanepool: '.tenantControlPlanes',
  controlplaneclaim: '.tenantControlPlanes',
  backuppolicy: '.tenantControlPlanes',
  tenantbackup: '.tenantControlPlanes',
  tenantrestore: '.tenantControlPlanes',
  stewardcontrolplane: '.clusterApi',
};

/** `_rules.tpl`: the rules that the code declares, those of the manager's ClusterRole apart for each half. */
export function rulesPartials(roles: readonly DeclaredRole[], clusterStacks: DeclaredRole): string {
  const partials = roles.flatMap((role) => {
    const name = `rules.${role.name.replace(/^steward-(.*)-role$/, '$1')}`;
    if (role.namespace !== undefined) return partial(`${name}.namespace`, rulesOf(role));
    const byHalf = Map.groupBy(role.parts, (part) => halves[part.name] ?? '');
    return [...byHalf].map(([half, parts]) => partial(`${name}${half}`, rulesOf({ ...role, parts })));
  });
  return `${partialsHeader}${partials.join('')}${partial('rules.clusterStacks', rulesOf(clusterStacks))}`;
}

const rulesOf = (role: DeclaredRole): readonly PolicyRule[] =>
  (roleManifest(role) as Manifest & { readonly rules: readonly PolicyRule[] }).rules;

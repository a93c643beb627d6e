import type { Manifest, PolicyRule } from '../meta.ts';

/** Permissions that one part of the manager needs, declared beside its code. */
export interface DeclaredAccess {
  /** Display name of the controller or other part. */
  readonly name: string;
  readonly access: readonly PolicyRule[];
}

const sorted = (words: Iterable<string>): readonly string[] => [...new Set(words)].sort();

/** One resource or path that a rule covers. */
type Target = Omit<PolicyRule, 'verbs'>;

/** Splits a rule into rules for one resource or path each. */
function targetsOf({
  apiGroups = [],
  resources = [],
  resourceNames,
  nonResourceURLs = [],
}: PolicyRule): readonly Target[] {
  const names = resourceNames && { resourceNames: sorted(resourceNames) };
  return [
    ...apiGroups.flatMap((group) =>
      resources.map((resource) => ({ apiGroups: [group], resources: [resource], ...names })),
    ),
    ...nonResourceURLs.map((path) => ({ nonResourceURLs: [path] })),
  ];
}

/** Joins the resources and paths of otherwise equal rules into one rule. */
function joined(rules: readonly PolicyRule[]): PolicyRule {
  const { apiGroups, resourceNames, verbs } = rules[0] ?? { verbs: [] };
  const resources = sorted(rules.flatMap((rule) => rule.resources ?? []));
  const nonResourceURLs = sorted(rules.flatMap((rule) => rule.nonResourceURLs ?? []));
  return {
    apiGroups,
    ...(resources.length > 0 && { resources }),
    resourceNames,
    ...(nonResourceURLs.length > 0 && { nonResourceURLs }),
    verbs,
  };
}

/** A role with the permissions that the parts of the manager declare. */
export interface DeclaredRole {
  readonly name: string;
  /** Absent for a ClusterRole. */
  readonly namespace?: string;
  readonly parts: readonly DeclaredAccess[];
}

/** The ClusterRole or Role that grants exactly the declared permissions, each once and in a stable order. */
export function roleManifest({ name, namespace, parts }: DeclaredRole): Manifest {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rules = rulesOf(parts);
  if (namespace === undefined) return { apiVersion, kind: 'ClusterRole', metadata: { name }, rules };
  return { apiVersion, kind: 'Role', metadata: { name, namespace }, rules };
}

function rulesOf(parts: readonly DeclaredAccess[]): readonly PolicyRule[] {
  const verbsOf = new Map<string, readonly string[]>();
  for (const rule of parts.flatMap((part) => part.access)) {
    for (const target of targetsOf(rule).map((one) => JSON.stringify(one))) {
      verbsOf.set(target, sorted([...(verbsOf.get(target) ?? []), ...rule.verbs]));
    }
  }
  const single = [...verbsOf].map(([target, verbs]): PolicyRule => ({ ...(JSON.parse(target) as Target), verbs }));
  const alike = Map.groupBy(single, ({ apiGroups, resourceNames, verbs }) =>
    JSON.stringify([apiGroups ?? [], resourceNames ?? [], verbs]),
  );
  return [...alike.values()].map(joined).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

import type { KindRef, PolicyRule } from '../../api/meta.ts';
import { refusals } from './fake-refusals.ts';

/** The attributes of a call that RBAC decides about. */
export interface Attributes {
  readonly verb: string;
  readonly kind: KindRef;
  readonly subresource?: string;
  readonly namespace?: string;
  /** Absent for create, and for list and watch that select no one name: RBAC does not know it then. */
  readonly name?: string;
}

const matches = (allowed: readonly string[] | undefined, wanted: string): boolean =>
  allowed !== undefined && (allowed.includes('*') || allowed.includes(wanted));

/** Throws `ApiError` 403 unless one of the rules allows the call, as RBAC would. */
export function authorize(rules: readonly PolicyRule[], attributes: Attributes): void {
  const { verb, kind, subresource, name } = attributes;
  const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`;
  const allowed = rules.some(
    (rule) =>
      matches(rule.verbs, verb) &&
      matches(rule.apiGroups, kind.group) &&
      (matches(rule.resources, resource) ||
        (subresource !== undefined && rule.resources?.includes(`*/${subresource}`) === true)) &&
      (rule.resourceNames === undefined || (name !== undefined && rule.resourceNames.includes(name))),
  );
  if (!allowed) throw refusals.forbidden(kind, { ...attributes, resource });
}

/** True if one of the rules allows GET of the path; a trailing `*` matches any rest. */
export function allowsPath(rules: readonly PolicyRule[], path: string): boolean {
  return rules.some(
    (rule) =>
      matches(rule.verbs, 'get') &&
      rule.nonResourceURLs?.some((url) => (url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : url === path)),
  );
}

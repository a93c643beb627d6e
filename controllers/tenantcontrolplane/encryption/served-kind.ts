import type { KindRef } from '../../../api/meta.ts';

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function parsed(body: string): Fields {
  try {
    return fieldsOf(JSON.parse(body));
  } catch {
    // The API server of a tenant may send any response.
    return {};
  }
}

/** The group of a resource as the spec names it; empty for the core group. */
export function groupOf(resource: string): string {
  const dot = resource.indexOf('.');
  return dot < 0 ? '' : resource.slice(dot + 1);
}

/** The preferred version in an API server's description of a group; undefined when there is none. */
export function preferredVersion(body: string): string | undefined {
  const { version } = fieldsOf(parsed(body).preferredVersion);
  return typeof version === 'string' && /^v[0-9][0-9a-z]{0,30}$/.test(version) ? version : undefined;
}

/** The kind of a resource in an API server's list of a version's resources; undefined when it is not served. */
export function kindIn(body: string, resource: string, version: string): KindRef | undefined {
  const group = groupOf(resource);
  const plural = group === '' ? resource : resource.slice(0, -group.length - 1);
  const { resources } = parsed(body);
  const list = (Array.isArray(resources) ? (resources as readonly unknown[]) : []).map(fieldsOf);
  const found = list.find(({ name }) => name === plural);
  const kind = found?.kind;
  if (typeof kind !== 'string' || !/^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind)) return undefined;
  return { group, version, plural, kind, namespaced: found?.namespaced === true };
}

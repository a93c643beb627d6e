/** What `from` has in the fields of `F`. */
type HandedDown<F, T> = { [K in keyof Pick<T, keyof F & keyof T>]: Exclude<T[K], undefined> };

/**
 * The values in `from` of the fields that both kinds have, which are those of a shared object below `api/embedded/`. Empty
 * text means unset, as everywhere: the TenantControlPlane keeps its default.
 */
export function handDown<F extends object, T extends { readonly [K in keyof F]?: unknown }>(
  fields: F,
  from: T,
): HandedDown<F, T> {
  const values = Object.keys(fields).map((name) => [name, from[name as keyof F & keyof T]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined && value !== '')) as HandedDown<F, T>;
}

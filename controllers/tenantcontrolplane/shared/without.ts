/** The object without these fields. */
export function without<T extends object, K extends keyof T>(object: T, ...fields: readonly K[]): Omit<T, K> {
  const dropped: ReadonlySet<PropertyKey> = new Set<PropertyKey>(fields);
  return Object.fromEntries(Object.entries(object).filter(([name]) => !dropped.has(name))) as Omit<T, K>;
}

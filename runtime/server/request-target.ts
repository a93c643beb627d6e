/**
 * The target of a request; undefined if it is invalid. All servers parse targets here, because no input of a client may
 * throw. A path is never parsed as an authority, so `//x` is a path that does not exist.
 */
export function parseTarget(target: string | undefined): URL | undefined {
  if (target === undefined) return undefined;
  if (target.startsWith('/')) return URL.parse(`http://localhost${target}`) ?? undefined;
  // Servers have to understand the form that is meant for proxies too (RFC 9112 §3.2.2).
  return /^https?:\/\//i.test(target) ? (URL.parse(target) ?? undefined) : undefined;
}

/**
 * What a request asks for; undefined when its target is none. Every server of ours parses targets here: what a stranger sends must
 * not throw. A path is never read as an authority, so `//x` is a path that nothing is found at.
 */
export function parseTarget(target: string | undefined): URL | undefined {
  if (target === undefined) return undefined;
  if (target.startsWith('/')) return URL.parse(`http://localhost${target}`) ?? undefined;
  // Servers have to understand the form that is meant for proxies too (RFC 9112 §3.2.2).
  return /^https?:\/\//i.test(target) ? (URL.parse(target) ?? undefined) : undefined;
}

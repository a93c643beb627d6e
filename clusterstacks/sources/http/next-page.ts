import { SourceUnavailableError } from '../asset-errors.ts';

/**
 * Where the next page of a list is, according to the header `Link` (RFC 8288; OCI distribution, “Listing Tags”; GitHub's REST API). Sources
 * behind a proxy may give their own address without TLS; the original scheme is used then.
 * @returns undefined on the last page.
 * @throws SourceUnavailableError when only another host is named: it must not get the credentials, and a truncated list is useless.
 */
export function nextPage(link: string | undefined, base: URL): URL | undefined {
  let elsewhere: URL | undefined;
  for (const [, target = '', parameters = ''] of (link ?? '').matchAll(/<([^<>]{1,4096})>([^<]*)/g)) {
    if (!/;\s*rel\s*=\s*"?(?:[^";,]*\s)?next(?:\s[^";,]*)?"?\s*(?:[;,]|$)/i.test(parameters)) continue;
    const url = URL.parse(target, base.href);
    if (url?.host === base.host) return atBase(url, base);
    elsewhere ??= url ?? undefined;
  }
  if (elsewhere === undefined) return undefined;
  throw new SourceUnavailableError(
    `${base.host} points to ${elsewhere.origin} for the next page of its list, which is not followed: a source must serve its list at its own address`,
  );
}

/** Set part by part: a path that begins with two slashes would be read as the address of another host. */
function atBase({ pathname, search }: URL, base: URL): URL {
  const url = new URL(base.origin);
  url.pathname = pathname;
  url.search = search;
  return url;
}

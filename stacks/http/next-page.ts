import { SourceUnavailableError } from '../asset-errors.ts';

/**
 * Where the next page of a list is, after the header `Link` (RFC 8288; OCI distribution, “Listing Tags”; GitHub's REST interface). Sources behind
 * a proxy may name themselves without TLS; they are asked as before.
 * @returns undefined on the last page.
 * @throws SourceUnavailableError when only another host is named: credentials are not for that, and a list without its end is none.
 */
export function nextPage(link: string | undefined, base: URL): URL | undefined {
  let elsewhere: URL | undefined;
  for (const [, target = '', parameters = ''] of (link ?? '').matchAll(/<([^<>]{1,4096})>([^<]*)/g)) {
    if (!/;\s*rel\s*=\s*"?(?:[^";,]*\s)?next(?:\s[^";,]*)?"?\s*(?:[;,]|$)/i.test(parameters)) continue;
    const url = URL.parse(target, base.href);
    if (url?.host === base.host) return new URL(url.pathname + url.search, base.origin);
    elsewhere ??= url ?? undefined;
  }
  if (elsewhere === undefined) return undefined;
  throw new SourceUnavailableError(
    `${base.host} leads to ${elsewhere.origin} for the next page of its list, which is not followed: a source lists at its own address`,
  );
}

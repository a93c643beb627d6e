/** The authentication that a registry requires (RFC 9110, “WWW-Authenticate”; distribution, “Token authentication”). */
export type Challenge =
  { readonly scheme: 'basic' } | { readonly scheme: 'bearer'; readonly realm: string; readonly service?: string };

/** The best supported challenge of a header: a token is preferred to sending the password itself. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const text = (header ?? '').slice(0, 8192);
  const bearer = /(?:^|,)\s*bearer\s+/i.exec(text);
  if (bearer !== null) {
    const parameters = new Map<string, string>();
    for (const [, key = '', quoted, plain = ''] of text
      .slice(bearer.index + bearer[0].length)
      .matchAll(/([a-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/gi)) {
      const name = key.toLowerCase();
      if (!parameters.has(name)) parameters.set(name, quoted?.replace(/\\(.)/g, '$1') ?? plain);
    }
    const realm = parameters.get('realm');
    const service = parameters.get('service');
    if (realm !== undefined) {
      return { scheme: 'bearer', realm, service };
    }
  }
  return /(?:^|,)\s*basic\b/i.test(text) ? { scheme: 'basic' } : undefined;
}

/** Where an API server is reached. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Splits `host:port`, `[v6]:port` or a bare host; undefined for a port that is none. */
export function parseHostAndPort(text: string, defaultPort: number): HostAndPort | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  const plain = /^([^:]+)(?::(\d+))?$/.exec(text);
  const [, host, digits] = bracketed ?? plain ?? (text.includes(':') && !text.includes(']') ? [text, text] : []);
  if (host === undefined || host === '') return undefined;
  const port = digits === undefined ? defaultPort : Number(digits);
  return port >= 1 && port <= 65_535 ? { host, port } : undefined;
}

/** The host of `host:port`; the text itself when it cannot be split. */
export function withoutPort(text: string): string {
  return parseHostAndPort(text, 443)?.host ?? text;
}

/** `host:port`, with brackets around IPv6. */
export function formatHostAndPort({ host, port }: HostAndPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** One address of a store. */
export interface Endpoint {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** One address of a store, and how the DataStore writes it. */
export interface NamedEndpoint extends Endpoint {
  readonly name: string;
}

/** Parses `host:port` of a DataStore endpoint; returns a text that says what is wrong with it. */
export function parseEndpoint(value: string): Endpoint | string {
  if (value.includes('://')) return 'has a scheme; use host:port';
  const match = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(value);
  if (match === null) return 'is not host:port (write an IPv6 address in brackets)';
  const host = match[1] ?? match[2] ?? '';
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) return 'has a port outside 1-65535';
  if (match[1] === undefined && !/^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(host))
    return 'has a host that is not a DNS name';
  return { host, port };
}

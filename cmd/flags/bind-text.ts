import type { ListenAddress } from './manager-settings.ts';

/** An address in the form in which servers are told where to listen: `host:port`. */
export function bindText({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

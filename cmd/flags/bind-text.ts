import type { ListenAddress } from './manager-settings.ts';

/** An address to listen on, as servers take it: `host:port`. */
export function bindText({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

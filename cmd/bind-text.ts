import type { ListenAddress } from './manager-settings.ts';

/** An address as servers are told where to listen. */
export function bindText({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

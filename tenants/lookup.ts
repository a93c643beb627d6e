import type { LookupFunction } from 'node:net';

/** Sends queries to name servers; `Resolver` of node:dns/promises is one. */
export interface NameServers {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
}

/**
 * A lookup for names that tenants choose. The one of Node.js blocks one of the few threads of the process as long as the name servers
 * of the tenant do not answer, and all other work that needs a thread. This one queries name servers only, without search domains.
 */
export function strangersLookup(servers: NameServers): LookupFunction {
  return (name, { all }, answer) => {
    addresses(servers, name).then(
      (found) => {
        const [first] = found;
        if (first === undefined) answer(new Error(`${name} has no address`), '');
        else if (all === true) answer(null, [...found]);
        else answer(null, first.address, first.family);
      },
      (error: unknown) => {
        answer(error instanceof Error ? error : new Error(String(error)), '');
      },
    );
  };
}

/** Of both families, IPv4 first; rejects when both fail. */
async function addresses(
  servers: NameServers,
  name: string,
): Promise<readonly { readonly address: string; readonly family: number }[]> {
  const [four, six] = await Promise.allSettled([servers.resolve4(name), servers.resolve6(name)]);
  if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
  const found = (list: PromiseSettledResult<string[]>, family: number) =>
    list.status === 'rejected' ? [] : list.value.map((address) => ({ address, family }));
  return [...found(four, 4), ...found(six, 6)];
}

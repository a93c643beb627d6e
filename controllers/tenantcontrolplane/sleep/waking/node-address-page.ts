import { isIpAddress } from '../../../../kubeadm/networks.ts';

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** An annotation has 256 KiB at most together with all others. */
const mostLength = 128 * 1024;

const kindsOfAddresses: ReadonlySet<unknown> = new Set(['InternalIP', 'ExternalIP']);

/** A page of a tenant's nodes: their addresses, and the continue token of the next page. What is no list of nodes has none. */
export function nodeAddressPage(body: string): { readonly addresses: readonly string[]; readonly next?: string } {
  let list: Fields;
  try {
    list = fieldsOf(JSON.parse(body));
  } catch {
    return { addresses: [] };
  }
  const { continue: next } = fieldsOf(list.metadata);
  const addresses = listOf(list.items).flatMap((node) =>
    listOf(fieldsOf(fieldsOf(node).status).addresses).flatMap((one) => {
      const { type, address } = fieldsOf(one);
      return kindsOfAddresses.has(type) && typeof address === 'string' && isIpAddress(address) ? [address] : [];
    }),
  );
  return { addresses, ...(typeof next === 'string' && next !== '' && { next }) };
}

/** The addresses as an annotation has them: sorted, each once, and cut where there are too many. */
export function addressesText(addresses: readonly string[]): string {
  const text = [...new Set(addresses)].sort().join(',');
  return text.length <= mostLength ? text : text.slice(0, text.lastIndexOf(',', mostLength));
}

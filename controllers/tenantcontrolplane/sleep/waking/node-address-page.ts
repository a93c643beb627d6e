import { canonicalIp } from '../../../../kubeadm/networks.ts';

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** So many nodes are requested at once. A server that sends more is not what it says it is, and the others do not count. */
export const nodesOfPage = 50;

/** So many addresses of one node count: more than any has, and few enough that one node does not take the place of the others. */
const mostOfNode = 16;

/** So many entries of one node are looked at, whatever they are. */
const mostEntries = 64;

const kindsOfAddresses: ReadonlySet<unknown> = new Set(['InternalIP', 'ExternalIP']);

/** What a page says of a tenant's nodes. */
export interface NodeAddressPage {
  readonly addresses: readonly string[];
  /** The continue token of the next page. */
  readonly next?: string;
  /** True if there was more on it than counts. */
  readonly isCut: boolean;
}

/** Reads a page of a tenant's nodes. What is no list of nodes has none. */
export function nodeAddressPage(body: string): NodeAddressPage {
  let list: Fields;
  try {
    list = fieldsOf(JSON.parse(body));
  } catch {
    return { addresses: [], isCut: false };
  }
  const { continue: next } = fieldsOf(list.metadata);
  const nodes = listOf(list.items);
  const found = nodes.slice(0, nodesOfPage).map(addressesOf);
  return {
    addresses: found.flatMap(({ addresses }) => addresses),
    ...(typeof next === 'string' && next !== '' && { next }),
    isCut: nodes.length > nodesOfPage || found.some(({ isCut }) => isCut),
  };
}

function addressesOf(node: unknown): Pick<NodeAddressPage, 'addresses' | 'isCut'> {
  const entries = listOf(fieldsOf(fieldsOf(node).status).addresses);
  const found = entries.slice(0, mostEntries).flatMap((one) => {
    const { type, address } = fieldsOf(one);
    const text = kindsOfAddresses.has(type) && typeof address === 'string' ? canonicalIp(address) : undefined;
    return text === undefined ? [] : [text];
  });
  return { addresses: found.slice(0, mostOfNode), isCut: entries.length > mostEntries || found.length > mostOfNode };
}

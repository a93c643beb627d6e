import { plainText } from './plain-text.ts';

/** A node of a tenant and its reported kubelet version. */
export interface NodeKubelet {
  readonly node: string;
  /** As reported; empty when the node has not reported it yet. */
  readonly version: string;
}

/** A page of a tenant's nodes. */
export interface NodePage {
  readonly kubelets: readonly NodeKubelet[];
  /** Continue token of the next page; absent on the last one. */
  readonly next?: string;
}

const pageSize = 100;

/** The path of a page. Node objects are large, since each lists its images, so pages are small. */
export function nodePagePath(next: string | undefined): string {
  const query = new URLSearchParams({ limit: String(pageSize), ...(next !== undefined && { continue: next }) });
  return `/api/v1/nodes?${query.toString()}`;
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Parses an API server's response for a page; undefined when it is not a list of nodes. */
export function parseNodePage(body: string): NodePage | undefined {
  let list: Fields;
  try {
    list = fieldsOf(JSON.parse(body));
  } catch {
    return undefined;
  }
  const { kind, items, metadata } = list;
  if (kind !== 'NodeList' || (items !== null && !Array.isArray(items))) return undefined;
  const { continue: next } = fieldsOf(metadata);
  const kubelets = ((items ?? []) as readonly unknown[]).map((item) => {
    const node = fieldsOf(item);
    const { kubeletVersion } = fieldsOf(fieldsOf(node.status).nodeInfo);
    return { node: plainText(fieldsOf(node.metadata).name), version: plainText(kubeletVersion) };
  });
  return { kubelets, ...(typeof next === 'string' && next !== '' && { next }) };
}

import { isMap, isSeq, parseDocument, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { stringifyString } from 'yaml/util';
import type { Document, ScalarTag, Tags } from 'yaml';
import { KubeconfigError } from '../../../api/kubeconfig.ts';
import { PluginError } from '../frame/plugin-error.ts';

type Fields = Readonly<Record<string, unknown>>;

/** One context with its cluster and its user, which all have the same name. */
export interface KubeconfigEntry {
  readonly name: string;
  readonly cluster: Fields & { readonly server: string };
  readonly user: Fields;
}

export interface MergeOptions {
  /** Makes it the current context, also if there is another one. */
  readonly use: boolean;
  /** Replaces a cluster, user or context of this name that belongs to something else. */
  readonly overwrite: boolean;
  /** Another file already has the current context. */
  readonly hasCurrent: boolean;
  /** What all files that kubectl reads say together: an entry of another file must not be hidden either. */
  readonly known?: Readonly<Record<List, readonly KnownEntry[]>>;
}

/** An entry of another file. */
interface KnownEntry {
  readonly name: string;
  readonly value: Fields;
}

const singular = { clusters: 'cluster', contexts: 'context', users: 'user' } as const;
type List = keyof typeof singular;

/**
 * A kubeconfig with this entry, which replaces one of the same name. Everything else keeps its value as it is written.
 * @throws KubeconfigError if `text` is no kubeconfig, and PluginError if the name belongs to something else.
 */
export function mergeKubeconfig(text: string, entry: KubeconfigEntry, options: MergeOptions): string {
  const { document, root, before } = read(text);
  const taken = options.overwrite ? undefined : (takenBy(before, entry) ?? takenBy(documentOf(options.known), entry));
  if (taken !== undefined) {
    throw new PluginError(
      `the kubeconfig already has a ${taken}: choose another --context-name, or replace it with --overwrite`,
    );
  }
  const { name, cluster, user } = entry;
  const namespace = valueOf(before, 'contexts', name)?.namespace;
  const context = { cluster: name, user: name, ...(typeof namespace === 'string' && { namespace }) };
  const set = (key: string, value: string): void => {
    if (before[key] !== value) root.set(key, document.createNode(value));
  };
  set('apiVersion', 'v1');
  set('kind', 'Config');
  for (const [list, value] of Object.entries({ clusters: cluster, contexts: context, users: user })) {
    setEntry(listIn(root, list), singular[list as List], { name, value: document.createNode(value), document });
  }
  const current = before['current-context'];
  const hasCurrent = options.hasCurrent || (typeof current === 'string' && current !== '');
  if (options.use || !hasCurrent) set('current-context', name);
  return document.toString({ lineWidth: 0, indentSeq: hasIndentedLists(text) });
}

/** Entries as a kubeconfig has them. */
const documentOf = (known: MergeOptions['known']): Fields =>
  Object.fromEntries(
    Object.entries(singular).map(([list, field]) => [
      list,
      (known?.[list as List] ?? []).map(({ name, value }) => ({ name, [field]: value })),
    ]),
  );

/** What has the name already, and is not this entry. */
function takenBy(before: Fields, { name, cluster }: KubeconfigEntry): string | undefined {
  const server = valueOf(before, 'clusters', name)?.server;
  if (server !== undefined && server !== cluster.server) {
    return `cluster "${name}" at ${typeof server === 'string' ? server : 'no address'}, and this one is at ${cluster.server}`;
  }
  const context = valueOf(before, 'contexts', name);
  if (context !== undefined && (context.cluster !== name || context.user !== name)) {
    return `context "${name}", of cluster ${JSON.stringify(context.cluster)} and user ${JSON.stringify(context.user)}`;
  }
  const isOther = server === undefined && valueOf(before, 'users', name) !== undefined;
  return isOther ? `user "${name}" of something else` : undefined;
}

/** The value of an entry; empty if it has none. */
function valueOf(document: Fields, list: List, name: string): Fields | undefined {
  const given = document[list];
  const entry = Array.isArray(given)
    ? (given as readonly unknown[]).find((one) => isFields(one) && one.name === name)
    : undefined;
  if (!isFields(entry)) return undefined;
  const value = entry[singular[list]];
  return isFields(value) ? value : {};
}

function setEntry(
  list: YAMLSeq,
  field: string,
  { name, value, document }: { readonly name: string; readonly value: unknown; readonly document: Document },
): void {
  const same = list.items.filter((one) => isMap(one)).filter((one) => one.get('name') === name);
  for (const one of same) one.set(field, value);
  if (same.length === 0) list.add(document.createNode({ name, [field]: value }));
}

/** The list of the kubeconfig; one that is absent or empty begins as a block. */
function listIn(root: YAMLMap, list: string): YAMLSeq {
  const given: unknown = root.get(list);
  const found = isSeq(given) ? given : new YAMLSeq();
  if (found.items.length === 0) found.flow = false;
  if (found !== given) root.set(list, found);
  return found;
}

function read(text: string): { readonly document: Document; readonly root: YAMLMap; readonly before: Fields } {
  const document: Document = parseDocument(text, {
    customTags: (tags) => tags.map(asWritten),
    // What is new is read as the same by parsers of YAML 1.1, such as that of kubectl.
    compat: 'yaml-1.1',
    sortMapEntries: true,
  });
  const before = valuesOf(document);
  const root = isMap(document.contents) ? document.contents : new YAMLMap(document.schema);
  if (root.items.length === 0) root.flow = false;
  document.contents = root;
  return { document, root, before };
}

function valuesOf(document: Document): Fields {
  let values: unknown;
  try {
    // The library's own messages quote the text, which may hold a key.
    if (document.errors.length > 0) throw new KubeconfigError();
    values = document.toJS({ maxAliasCount: 0 }) ?? {};
  } catch {
    throw new KubeconfigError('the kubeconfig is not YAML; nothing was written');
  }
  if (!isFields(values)) throw new KubeconfigError('the kubeconfig is not a map; nothing was written');
  return values;
}

/** Writes a plain value as it was read: 0777, 1e5 and numbers of twenty digits may be passwords. */
function asWritten(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || tag.collection !== undefined) return tag;
  const stringify: ScalarTag['stringify'] = (item, context, ...rest) =>
    isPlain(item) ? item.source : (tag.stringify ?? stringifyString)(item, context, ...rest);
  return { ...tag, stringify };
}

const isPlain = (item: Scalar): item is Scalar & { source: string } =>
  item.type === Scalar.PLAIN && item.source !== undefined && !item.source.includes('\n');

/** Whether lists stand to the right of their key. kubectl writes them below it. */
const hasIndentedLists = (text: string): boolean => /^ +- /m.test(text) && !/^- /m.test(text);

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

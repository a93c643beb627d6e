import { Composer, Parser } from 'yaml';
import type { Document, ScalarTag, Tags } from 'yaml';
import type { Manifest } from '../../api/meta.ts';
import { RenderError } from '../sources/render-error.ts';
import { indentQuoted } from './indent-quoted.ts';

/**
 * YAML 1.1 as Go's sigs.k8s.io/yaml reads it: `0644` is 420 and `yes` is true, but neither sexagesimal numbers (`12:30:45`) nor
 * timestamps exist (https://pkg.go.dev/sigs.k8s.io/yaml, https://yaml.org/type/). The types that JSON does not have are left out,
 * so that they are reported rather than guessed.
 */
function goTags(tags: Tags): Tags {
  const foreign = new Set(['timestamp', 'binary', 'omap', 'pairs', 'set']);
  return tags
    .filter((tag) => typeof tag === 'string' || (tag as ScalarTag).format !== 'TIME')
    .filter((tag) => {
      const name = typeof tag === 'string' ? tag : tag.tag.replace('tag:yaml.org,2002:', '');
      return !foreign.has(name);
    })
    .map(withDigit);
}

/** For Go a number has a digit before its exponent: `e1234567` is a text. */
function withDigit(tag: Tags[number]): Tags[number] {
  if (typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:float') return tag;
  const scalar = tag as ScalarTag;
  // The tags for infinity and NaN have no digits.
  if (scalar.test === undefined || scalar.test.test('.inf')) return tag;
  return { ...scalar, test: new RegExp(`^(?=[-+]?\\.?[0-9])${scalar.test.source.replace(/^\^/, '')}`) };
}

/** In characters: larger texts are generated and well-formed. */
const largestRepaired = 2 * 1024 * 1024;

/**
 * The objects in a text of YAML documents, in their order; those of lists stand for their list.
 * @param origin what a message calls the text.
 * @throws RenderError that names document and place, and quotes nothing: there may be Secrets in it.
 */
export function readManifests(text: string, origin: string): readonly Manifest[] {
  return mapManifests(text, origin, (manifest) => manifest);
}

/**
 * As `readManifests`, but each object is passed on as soon as it is read: the tree of a document takes thirty times the memory of its text,
 * and only one of them is held at a time.
 */
export function mapManifests<T>(text: string, origin: string, map: (manifest: Manifest) => T): readonly T[] {
  const results = mapped(text, { origin, map, isFinal: text.length > largestRepaired });
  if (results !== undefined) return results;
  // Only tried after a failure, because each repair parses the text again.
  return mapped(indentQuoted(text), { origin, map, isFinal: true }) ?? [];
}

interface Reading<T> {
  readonly origin: string;
  readonly map: (manifest: Manifest) => T;
  /** False: invalid YAML may be repaired. */
  readonly isFinal: boolean;
}

/** Undefined when the text has to be repaired first. */
function mapped<T>(text: string, { origin, map, isFinal }: Reading<T>): readonly T[] | undefined {
  const results: T[] = [];
  let [start, number] = [0, 0];
  for (const document of documentsIn(text)) {
    if (!isFinal && document.errors.length > 0) return undefined;
    const [, , end] = document.range;
    number += 1;
    // What helm writes above each document: the template that it comes from.
    const [, template] = /^# Source: (\S+)/m.exec(text.slice(start, end)) ?? [];
    start = end;
    const place = `${origin}, document ${number}${template === undefined ? '' : ` (${template})`}`;
    results.push(...objectsOf(valueOf(document, text, place), place).map(map));
  }
  return results;
}

function documentsIn(text: string): Iterable<Document.Parsed> {
  const composer = new Composer({
    version: '1.1',
    customTags: goTags,
    // Go takes the last of equal keys and accepts less indentation; existing charts rely on both.
    uniqueKeys: false,
    strict: false,
    // A pretty error quotes the text, which may contain a Secret.
    prettyErrors: false,
    logLevel: 'silent',
  });
  return composer.compose(new Parser().parse(text));
}

/** The parser's messages quote tags, aliases and escapes, so its codes are reported instead. */
function valueOf(document: Document.Parsed, text: string, place: string): unknown {
  const unknownTag = document.warnings.find(({ code }) => code === 'TAG_RESOLVE_FAILED');
  const [problem = unknownTag] = document.errors;
  if (problem !== undefined) {
    const line = text.slice(0, problem.pos[0]).split('\n').length;
    throw new RenderError('ChartBroken', `${place} is not valid YAML: ${problem.code} at line ${line}`);
  }
  try {
    return document.toJS();
  } catch {
    throw new RenderError('ChartBroken', `${place} is not valid YAML: an alias has no anchor or expands too far`);
  }
}

interface Read {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly items?: unknown;
  readonly metadata?: { readonly name?: unknown; readonly generateName?: unknown } | null;
}

function objectsOf(value: unknown, place: string): readonly Manifest[] {
  if (value === null || value === undefined) return [];
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new RenderError('ChartBroken', `${place} is not a Kubernetes object`);
  }
  const { apiVersion, kind, items, metadata } = value as Read;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || apiVersion === '' || kind === '') {
    throw new RenderError('ChartBroken', `${place} has no apiVersion or kind`);
  }
  if (kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item, index) => objectsOf(item, `${place}, item ${index + 1}`));
  }
  if (typeof metadata?.name !== 'string' || metadata.name === '') {
    const remedy = typeof metadata?.generateName === 'string' ? '; generateName alone cannot be applied twice' : '';
    throw new RenderError('ChartBroken', `${place} is a ${kind} without metadata.name${remedy}`);
  }
  rejectWhatJsonCannotSay(value, `${place}, ${kind} ${metadata.name}`);
  return [value as Manifest];
}

function rejectWhatJsonCannotSay(value: unknown, place: string): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RenderError('ChartBroken', `${place} has a number that JSON cannot represent: ${value}`);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const inner of Object.values(value)) rejectWhatJsonCannotSay(inner, place);
}

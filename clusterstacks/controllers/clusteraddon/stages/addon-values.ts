import { parseDocument } from 'yaml';

/** A values template that gives something else than a map of values. */
export class ValuesError extends Error {
  override readonly name = 'ValuesError';
}

/**
 * The values file in what a template of values was expanded to: the text under the key `values` where that is a text, else the
 * whole. Nothing of the text is quoted in errors: it may hold what a user keeps secret.
 */
export function valuesFrom(expanded: string): string {
  const document = parseDocument(expanded, { version: '1.1', uniqueKeys: false, logLevel: 'silent' } as {
    version: '1.1';
  });
  const [error] = document.errors;
  if (error !== undefined) {
    throw new ValuesError(`the expanded values are not YAML at line ${error.linePos?.[0].line ?? '?'} (${error.code})`);
  }
  const content = contentOf(document);
  if (content === null || content === undefined) return '';
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new ValuesError('the expanded values are not a map; write "key: value" lines, or put them under "values: |"');
  }
  const { values } = content as { readonly values?: unknown };
  return typeof values === 'string' ? values : expanded;
}

function contentOf(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw new ValuesError('the expanded values use too many YAML aliases', { cause: error });
  }
}

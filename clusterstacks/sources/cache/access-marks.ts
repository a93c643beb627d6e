import { scrypt } from 'node:crypto';

import type { SourceAddress } from '../asset-store.ts';

const markBytes = 16;
/** Marks are remembered only to avoid computing them again. */
const mostKnown = 1000;

/**
 * Marks in the cache who may read an entry: equal for the same source and credentials, and empty for a source that is read without
 * credentials, because everyone may read its releases. Guessing credentials from a mark is no faster than trying them at their source.
 */
export class AccessMarks {
  readonly #known = new Map<string, Promise<string>>();

  async of(source: SourceAddress): Promise<string> {
    const shown = credentialsOf(source);
    if (shown === undefined) return '';
    const place = JSON.stringify([source.type, ...placeOf(source)]);
    const id = JSON.stringify([place, shown]);
    const known = this.#known.get(id) ?? mark(JSON.stringify(shown), place);
    if (this.#known.size >= mostKnown) this.#known.clear();
    this.#known.set(id, known);
    return known;
  }
}

function credentialsOf(source: SourceAddress): readonly string[] | undefined {
  switch (source.type) {
    case 'directory':
      return undefined;
    case 'github':
      return source.token === undefined ? undefined : [source.token];
    case 'oci': {
      const { credentials } = source;
      if (credentials === undefined) return undefined;
      return 'token' in credentials ? [credentials.token] : [credentials.username, credentials.password];
    }
  }
}

function placeOf(source: SourceAddress): readonly string[] {
  switch (source.type) {
    case 'directory':
      return [source.path];
    case 'github':
      return [source.apiServer ?? '', source.repository];
    case 'oci':
      return [source.repository];
  }
}

function mark(secret: string, place: string): Promise<string> {
  return new Promise((resolve, reject) => {
    scrypt(secret, place, markBytes, (error, bytes) => {
      if (error === null) resolve(bytes.toString('hex'));
      else reject(error);
    });
  });
}

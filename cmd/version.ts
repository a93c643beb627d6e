import { readFileSync } from 'node:fs';
import { join } from 'node:path';

declare global {
  /** Set by the bundle script; absent when the sources run as they are. */

  var STEWARD_VERSION: string | undefined;
}

/** The version of this program, e.g. `v0.17.0`. */
export const version: string = globalThis.STEWARD_VERSION ?? `v${versionOfSources()}`;

function versionOfSources(): string {
  const file = join(import.meta.dirname, '..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

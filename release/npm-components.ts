import type { SbomComponent } from './sbom.ts';

/** An entry of package-lock.json (lockfileVersion 3). */
interface LockedPackage {
  /** Only if it is not that of the folder. */
  readonly name?: string;
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
}

/** The packages of package-lock.json by their folders. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/**
 * The packages in these folders as components, each once, sorted. Throws for a folder that the lock does not know.
 *
 * `npm sbom` does not know what the bundler left out, and its `--omit=dev` leaves out what a development tool needs, too.
 */
export function npmComponents(folders: readonly string[], locked: LockedPackages): readonly SbomComponent[] {
  const components = folders.map((folder) => component(folder, locked[folder]));
  return [...new Map(components.map((one) => [one.purl, one])).values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

function component(folder: string, entry?: LockedPackage): SbomComponent {
  if (entry === undefined) throw new Error(`package-lock.json does not contain ${folder}; run npm ci`);
  const { name = folder.replace(/^.*node_modules\//, ''), version = '', integrity = '', license } = entry;
  const [, checksum] = /^sha512-(.+)$/.exec(integrity) ?? [];
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(checksum !== undefined && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(checksum, 'base64').toString('hex') }],
    }),
    ...(license !== undefined && { licenses: [{ expression: license }] }),
  };
}

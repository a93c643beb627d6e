/** One release of Cluster API whose managers and clusterctl are pinned. */
export interface ClusterApiRelease {
  /** With the leading v. */
  readonly version: string;
  /** Without the v. */
  readonly minor: string;
  /** Below modules/. */
  readonly folder: 'cluster-api' | 'cluster-api-1.13';
  /** Where the module keeps the core manager, below its root: the program is there, its manifests in `config`. */
  readonly core: string;
  /** Linker variables, full name to value. */
  readonly variables: Readonly<Record<string, string>>;
}

const release = (
  version: string,
  buildDate: string,
  place: Pick<ClusterApiRelease, 'folder' | 'core'>,
): ClusterApiRelease => {
  const [gitMajor = '', gitMinor = ''] = version.slice(1).split('.');
  // The build date is the module's own time, so that two builds are equal.
  const values = {
    ...{ gitMajor, gitMinor, gitVersion: version, gitCommit: 'unknown', gitTreeState: 'archive', buildDate },
  };
  const variables = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`sigs.k8s.io/cluster-api/version.${name}`, value]),
  );
  return { version, minor: `${gitMajor}.${gitMinor}`, variables, ...place };
};

/** Newest first; the first is the default, and what real clusters run. */
export const clusterApiReleases = [
  release('v1.14.2', '2026-09-08T12:36:30Z', { folder: 'cluster-api', core: 'core' }),
  release('v1.13.6', '2026-09-08T11:20:31Z', { folder: 'cluster-api-1.13', core: '.' }),
] as const;

/** The pinned release of a minor (`1.13`, `v1.13`) or of exactly one version. Throws an error that lists the pinned ones. */
export const resolveClusterApi = (wanted: string): ClusterApiRelease => {
  const name = wanted.replace(/^v/, '');
  const found = clusterApiReleases.find((each) => each.minor === name || each.version === `v${name}`);
  if (found === undefined) {
    const pinned = clusterApiReleases.map((each) => each.version).join(', ');
    throw new Error(
      `Cluster API "${wanted}" is not pinned; pinned are ${pinned}. Add a folder below e2e/tools/modules to pin another.`,
    );
  }
  return found;
};

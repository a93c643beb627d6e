/** One etcd release that binaries of ours are pinned to. */
export interface EtcdRelease {
  /** With the leading v. */
  readonly version: string;
  /** Below modules/. */
  readonly folder: string;
}

/** The first is the default; the last is the oldest one that a shared store may run. */
export const etcdReleases = [
  { version: 'v3.6.16', folder: 'etcd-3.6' },
  { version: 'v3.7.3', folder: 'etcd-3.7' },
  { version: 'v3.6.14', folder: 'etcd-3.6.14' },
] as const satisfies readonly EtcdRelease[];

/** The last one in which a tenant can watch the keys of others (CVE-2026-73499): tests see that Steward notices. */
export const leakyEtcd = { version: 'v3.6.13', folder: 'etcd-3.6.13' } as const satisfies EtcdRelease;

/** The pinned release of exactly one version (`v3.7.3`, `3.7.3`), or the first one of a minor (`3.7`). Throws an error that lists the pinned ones. */
export const resolveEtcd = (wanted: string): EtcdRelease => {
  const name = wanted.replace(/^v/, '');
  const found =
    [...etcdReleases, leakyEtcd].find((each) => each.version === `v${name}`) ??
    etcdReleases.find((each) => each.version.startsWith(`v${name}.`));
  if (found === undefined) {
    const pinned = etcdReleases.map((each) => each.version).join(', ');
    throw new Error(
      `etcd "${wanted}" is not pinned; pinned are ${pinned}. Add a folder below e2e/tools/modules to pin another.`,
    );
  }
  return found;
};

/** One Kubernetes release that binaries of ours are pinned to. */
export interface KubernetesRelease {
  /** With the leading v. */
  readonly version: string;
  /** Without the v. */
  readonly minor: string;
  /**
   * What the tests run of it. Of a release that no scenario has clusters of that is kubeadm, whose documents are compared with those
   * made here; the others of its programs are only made when somebody names them, as `npm run minors` does.
   */
  readonly inTests: 'all' | 'kubeadm';
  /** The tag of the test image that the release's own tests use. */
  readonly agnhostVersion: string;
  /** Linker variables, full name to value. */
  readonly variables: Readonly<Record<string, string>>;
}

const release = (version: string, buildDate: string, agnhostVersion: string): KubernetesRelease => {
  const [major = '', minor = ''] = version.slice(1).split('.');
  // The build date is the module's own time, so that two builds are equal. The commit is not part of a Go module,
  // and "archive" is what Kubernetes itself calls a tree that was not taken from git.
  const values = {
    gitMajor: major,
    gitMinor: minor,
    gitVersion: version,
    gitCommit: 'unknown',
    gitTreeState: 'archive',
    buildDate,
  };
  const variables: Record<string, string> = { 'main.Version': agnhostVersion };
  for (const [name, value] of Object.entries(values)) {
    variables[`k8s.io/component-base/version.${name}`] = value;
    variables[`k8s.io/client-go/pkg/version.${name}`] = value;
  }
  return { version, minor: `${major}.${minor}`, inTests: 'all', agnhostVersion, variables };
};

const kubeadmInTests = (version: string, buildDate: string, agnhostVersion: string): KubernetesRelease => ({
  ...release(version, buildDate, agnhostVersion),
  inTests: 'kubeadm',
});

/** Newest first; the first is the default. Each has its folder modules/kubernetes-<minor>. */
export const kubernetesReleases = [
  release('v1.36.3', '2026-07-22T18:07:38Z', '2.63.0'),
  release('v1.35.4', '2026-04-15T18:01:22Z', '2.59'),
  release('v1.34.4', '2026-02-10T12:53:36Z', '2.56'),
  kubeadmInTests('v1.33.13', '2026-06-11T16:59:07Z', '2.53'),
  kubeadmInTests('v1.32.5', '2025-05-15T09:05:02Z', '2.53'),
  kubeadmInTests('v1.31.4', '2024-12-10T11:37:26Z', '2.52'),
  kubeadmInTests('v1.30.14', '2025-06-18T19:07:32Z', '2.48'),
  release('v1.29.15', '2025-03-11T17:41:05Z', '2.45'),
] as const;

/** The pinned release of a minor (`1.36`, `v1.36`) or of exactly one version (`v1.36.3`). Throws an error that lists the pinned ones. */
export const resolveKubernetes = (wanted: string): KubernetesRelease => {
  const name = wanted.replace(/^v/, '');
  const found = kubernetesReleases.find((each) => each.minor === name || each.version === `v${name}`);
  if (found === undefined) {
    const pinned = kubernetesReleases.map((each) => each.version).join(', ');
    throw new Error(
      `Kubernetes "${wanted}" is not pinned; pinned are ${pinned}. Add a folder below e2e/tools/modules to pin another.`,
    );
  }
  return found;
};

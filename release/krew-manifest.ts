/** What a krew manifest says of one release. */
export interface KrewRelease {
  /** Without a v. */
  readonly version: string;
  /** Where the archive can be downloaded. */
  readonly uri: string;
  /** SHA-256 of the archive, in lower-case hex. */
  readonly sha256: string;
}

/**
 * The manifest by which krew installs `kubectl steward` (https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest). The program is
 * the same on every platform, because Node runs it.
 */
export function krewManifest({ version, uri, sha256 }: KrewRelease): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'steward' },
    spec: {
      version: `v${version}`,
      homepage: 'https://github.com/butlerdotdev/steward',
      shortDescription: 'Work with hosted Kubernetes control planes',
      description: [
        'Creates, lists, upgrades, migrates and rotates the control planes of Steward,',
        'gives short-lived kubeconfigs and join commands for workers, and collects',
        'support bundles without secrets.',
        '',
      ].join('\n'),
      caveats: [
        'The plugin needs Node.js 22.19 or later in the PATH.',
        'For completion, put kubectl_complete-steward into the PATH:',
        '  kubectl steward completion kubectl > /usr/local/bin/kubectl_complete-steward',
        '  chmod +x /usr/local/bin/kubectl_complete-steward',
        '',
      ].join('\n'),
      platforms: [
        {
          selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['darwin', 'linux'] }] },
          uri,
          sha256,
          bin: 'kubectl-steward',
        },
      ],
    },
  };
}

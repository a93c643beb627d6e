interface Explanation {
  readonly pattern: RegExp;
  /** Whose it is: the product under test, the machines of the run, or the images that were made for it. */
  readonly cause: 'product' | 'machine' | 'image';
  readonly text: string;
}

/** What was found about tests that failed here. A failure of which nothing is known stands on the page with its own message. */
const explanations: readonly Explanation[] = [
  {
    pattern: /Kubelet when scheduling a read only busybox container should not write to root filesystem/,
    cause: 'image',
    text:
      "The write was refused, as it should be, but the test expects the message of the shell in the published busybox, `can't create /file: Read-only file system`. " +
      "The shell in the image built here is bash, which says `line 1: /file: Read-only file system`: that of Debian's busybox drops variables such as `data-1`, for which other tests check.",
  },
  {
    pattern: /should support continue listing from the last key if the original version has been compacted away/,
    cause: 'product',
    text:
      'The token of a list was still valid after ten minutes, although etcd had compacted its revision. Since Kubernetes 1.34 the API server answers from snapshots of its cache, and ' +
      'learns of compaction by the key `compact_rev_key` when it compacts itself. Tenants of an etcd DataStore run with `--etcd-compaction-interval=0`, because a tenant that may compact a ' +
      'shared etcd would cut off the others; so snapshots end with the history of the watch cache instead. Lists stay consistent for longer than required, and nothing is lost, so this is left as it is.',
  },
];

/** The explanation of a test's failure, as the page shows it; undefined when there is none. */
export function explanationOf(name: string): string | undefined {
  const found = explanations.find(({ pattern }) => pattern.test(name));
  return found === undefined ? undefined : `${found.cause}: ${found.text}`;
}

/** Where an OCI repository is. */
export interface RepositoryAddress {
  /** `host[:port]`. */
  readonly host: string;
  readonly path: string;
}

/** The path as the distribution specification has it (“Pulling manifests”). */
const repository =
  /^((?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::\d{1,5})?)\/([a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)$/;

/**
 * Reads `host[:port]/path`, with or without `oci://` in front.
 * @throws RangeError that names the text and the supported form.
 */
export function parseRepositoryAddress(text: string): RepositoryAddress {
  const [, host, path] = text.length > 512 ? [] : (repository.exec(text.replace(/^oci:\/\//, '')) ?? []);
  if (host === undefined || path === undefined) {
    throw new RangeError(
      `"${text.slice(0, 200)}" is not an OCI repository: use HOST[:PORT]/PATH with a lower-case path and no tag, such as registry.scs.community/kaas/cluster-stacks`,
    );
  }
  // The registry of that name is served by another host.
  return { host: host === 'docker.io' ? 'registry-1.docker.io' : host, path };
}

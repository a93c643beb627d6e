/** A repository of an OCI registry. */
export interface RegistryAddress {
  /** With its port, if it has one. */
  readonly host: string;
  /** Path of the repository; empty for the registry itself. */
  readonly path: string;
}

const component = /^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*$/;

/**
 * Reads `HOST[:PORT]/PATH`, where PATH may be absent.
 * Throws for anything that no registry would take as a name (distribution-spec, “Pulling manifests”).
 */
export function registryAddress(text: string): RegistryAddress {
  const [host = '', ...path] = text.replace(/^oci:\/\//, '').split('/');
  const isHost = /^([a-zA-Z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?$/.test(host);
  const bad = path.find((part) => !component.test(part));
  if (!isHost || bad !== undefined) {
    throw new Error(`"${text}" is not a registry: use HOST[:PORT]/PATH in lower case, such as ghcr.io/example`);
  }
  return { host, path: path.join('/') };
}

/** The repository below another one. */
export const below = ({ host, path }: RegistryAddress, name: string): RegistryAddress => ({
  host,
  path: path === '' ? name : `${path}/${name}`,
});

/** As people write it, without a scheme. */
export const addressText = ({ host, path }: RegistryAddress): string => (path === '' ? host : `${host}/${path}`);

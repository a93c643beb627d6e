import type { ManagerSource } from '../sources/stack-source.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The source of stacks that name none, from the environment variables that the cluster-stack-operator reads: `OCI_REPOSITORY` (or
 * `OCI_REGISTRY` before a path) with `OCI_USERNAME` and `OCI_PASSWORD` or `OCI_ACCESS_TOKEN`, else `GIT_ORG_NAME`, `GIT_REPOSITORY_NAME` and
 * `GIT_ACCESS_TOKEN`. `folder` is what sources of type directory are below.
 */
export function clusterStackSource(environment: Environment, folder: string): ManagerSource {
  const address = ociSource(environment) ?? gitSource(environment);
  return { address, ...(folder !== '' && { folder }) };
}

function ociSource(environment: Environment): ManagerSource['address'] {
  const { OCI_REGISTRY: registry = '', OCI_REPOSITORY: path = '', OCI_ACCESS_TOKEN: token = '' } = environment;
  const { OCI_USERNAME: username = '', OCI_PASSWORD: password = '' } = environment;
  if (path === '') return undefined;
  // The variable holds host and path; a path alone is below the registry.
  const repository = registry === '' || path.startsWith(`${registry}/`) ? path : `${registry}/${path}`;
  if (username !== '' && password !== '') return { type: 'oci', repository, credentials: { username, password } };
  return { type: 'oci', repository, ...(token !== '' && { credentials: { token } }) };
}

function gitSource(environment: Environment): ManagerSource['address'] {
  const { GIT_ORG_NAME: owner = '', GIT_REPOSITORY_NAME: name = '', GIT_ACCESS_TOKEN: token = '' } = environment;
  if (owner === '' || name === '') return undefined;
  return { type: 'github', repository: `${owner}/${name}`, ...(token !== '' && { token }) };
}

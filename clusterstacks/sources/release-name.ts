import type { ReleaseVersion } from './release-version.ts';
import { readVersion, withDash, withDot } from './release-version.ts';

/** What the releases of one stack have in common. */
export interface StackIdentity {
  readonly provider: string;
  readonly name: string;
  /** Minor version of Kubernetes, e.g. `1.36`. */
  readonly kubernetesVersion: string;
}

/** `<provider>-<name>`: the same for all minors of Kubernetes. */
export const stackName = ({ provider, name }: Pick<StackIdentity, 'provider' | 'name'>): string =>
  `${provider}-${name}`;

/** `<provider>-<name>-<major>-<minor>`, with which the names of releases, their charts and their ClusterClasses begin. */
export const releasePrefix = (stack: StackIdentity): string =>
  `${stackName(stack)}-${stack.kubernetesVersion.replace('.', '-')}`;

/** Name of a ClusterStackRelease and tag of its artifact: `docker-scs-1-30-v0-sha-rwvgrna`. */
export const releaseName = (stack: StackIdentity, version: ReleaseVersion): string =>
  `${releasePrefix(stack)}-${withDash(version)}`;

/** Name of the ClusterClass of a release: `docker-scs-1-30-v0-sha.rwvgrna`. */
export const className = (stack: StackIdentity, version: ReleaseVersion): string =>
  `${releasePrefix(stack)}-${withDot(version)}`;

/**
 * The version at the end of a name or tag of this stack, in either spelling; undefined for names of other stacks. The known prefix is
 * matched, so the names of provider and stack may contain dashes.
 */
export function versionIn(stack: StackIdentity, name: string): ReleaseVersion | undefined {
  const prefix = `${releasePrefix(stack)}-`;
  return name.startsWith(prefix) ? readVersion(name.slice(prefix.length)) : undefined;
}

/** The name of the release that a ClusterClass belongs to by its name; only its version may contain a dot. */
export const releaseOfClass = (name: string): string => name.replace(/\.(?=[a-z0-9]+$)/, '-');

/** The parts of a name whose stack is not known beforehand. */
export interface ReadName {
  /** `<provider>-<name>`; where one ends and the other begins is ambiguous when there are dashes. */
  readonly stack: string;
  readonly kubernetesVersion: string;
  readonly version: ReleaseVersion;
}

/** Parses the name of a release or a ClusterClass from its end; undefined for any other name. */
export function readReleaseName(name: string): ReadName | undefined {
  const [, stack, major, minor, rest = ''] =
    /^([a-z0-9][-a-z0-9]*?)-(\d)-(\d+)-(v\d+(?:-[a-z0-9]+[.-][a-z0-9]+)?)$/.exec(name) ?? [];
  const version = readVersion(rest);
  if (stack === undefined || version === undefined || !stack.includes('-')) return undefined;
  return { stack, kubernetesVersion: `${major}.${minor}`, version };
}

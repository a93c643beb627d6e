import { InvalidInputError } from './invalid-input-error.ts';

/** A Kubernetes version. Pre-releases compare below their release and follow semantic versioning. */
export interface KubernetesVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** `rc.1` of `v1.37.0-rc.1`; absent for a release. */
  readonly preRelease?: string;
}

/** The oldest minor of Kubernetes 1 that is supported; older ones are hosted with a warning. */
export const oldestMinor = 29;

/** The newest minor of Kubernetes 1 that is supported; newer ones are hosted only if the operator allows it. */
export const newestMinor = 36;

/**
 * The minors of this range whose control planes have run with a worker and a pod, by `e2e/minors/results.json`. Of the others,
 * what is made here is only compared with what their kubeadm makes; they are hosted with a warning.
 */
export const minorsThatRan: readonly number[] = [29, 30, 31, 32, 33, 34, 35, 36];

const pattern = /^v?(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,4})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?$/;

/** Reads `v1.36.3` or `1.36.3`. Throws `InvalidInputError` naming `field`. */
export function parseVersion(text: string, field = 'version'): KubernetesVersion {
  const match = pattern.exec(text.trim());
  if (match === null) {
    const remedy = `use a full version such as v1.${newestMinor}.0`;
    throw new InvalidInputError({ field, value: text, reason: 'is not a Kubernetes version', remedy });
  }
  const version = { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
  return match[4] === undefined ? version : { ...version, preRelease: match[4] };
}

/** Reads a version; undefined when the text is not one. */
export function readVersion(text: string): KubernetesVersion | undefined {
  return pattern.test(text.trim()) ? parseVersion(text) : undefined;
}

/** `vX.Y.Z`, the form of image tags and of `kubernetesVersion`. */
export function versionText(version: KubernetesVersion): string {
  const release = `v${version.major}.${version.minor}.${version.patch}`;
  return version.preRelease === undefined ? release : `${release}-${version.preRelease}`;
}

/** Reads either form and writes `vX.Y.Z`. Throws `InvalidInputError` naming `field`. */
export function normalizeVersion(text: string, field = 'version'): string {
  return versionText(parseVersion(text, field));
}

/** `X.Y` without patch. */
export function minorText(version: KubernetesVersion): string {
  return `${version.major}.${version.minor}`;
}

function comparePart(a: string, b: string): number {
  const [numericA, numericB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numericA && numericB) return Number(a) - Number(b);
  if (numericA !== numericB) return numericA ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function comparePreRelease(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined) return 1;
  if (b === undefined) return -1;
  const [partsA, partsB] = [a.split('.'), b.split('.')];
  for (let index = 0; index < Math.max(partsA.length, partsB.length); index += 1) {
    const [partA, partB] = [partsA[index], partsB[index]];
    if (partA === undefined) return -1;
    if (partB === undefined) return 1;
    const order = comparePart(partA, partB);
    if (order !== 0) return order;
  }
  return 0;
}

/** Negative when `a` is older than `b`, positive when newer, 0 when equal (semver 2.0.0 §11). */
export function compareVersions(a: KubernetesVersion, b: KubernetesVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch || comparePreRelease(a.preRelease, b.preRelease);
}

/**
 * Reads a version that can be hosted: of Kubernetes 1, and no minor above `newest`. Throws `InvalidInputError` naming `field` and
 * the range.
 */
export function parseSupportedVersion(text: string, field = 'version', newest = newestMinor): KubernetesVersion {
  const version = parseVersion(text, field);
  if (version.major !== 1 || version.minor > newest) {
    const remedy = `use a version from v1.${oldestMinor} to v1.${newest}`;
    const reason = `is ${version.major < 1 ? 'older' : 'newer'} than the supported versions`;
    throw new InvalidInputError({ field, value: text, reason, remedy });
  }
  return version;
}

/** Warnings about a version that is hosted but not tested; `ran` are the minors that were. */
export function versionWarnings(text: string, field = 'version', ran = minorsThatRan): readonly string[] {
  const match = pattern.exec(text.trim());
  if (match?.[1] !== '1') return [];
  const minor = Number(match[2]);
  const tested = `the tested versions v1.${oldestMinor} to v1.${newestMinor}`;
  if (minor < oldestMinor) return [`${field} ${text} is older than ${tested}, and workers may not be able to join`];
  if (minor > newestMinor) return [`${field} ${text} is newer than ${tested}`];
  if (ran.includes(minor)) return [];
  return [
    `${field} ${text}: no control plane of v1.${minor} has been run in tests; its documents were compared with those of kubeadm`,
  ];
}

/**
 * The allowed targets from an installed version when `newest` is the last minor, for messages, e.g. `v1.35 (another patch) or
 * v1.36 (the next minor)`.
 */
export function allowedTargets(installed: KubernetesVersion, newest = newestMinor): string {
  const same = `v${installed.major}.${installed.minor} (another patch)`;
  return installed.minor < newest ? `${same} or v${installed.major}.${installed.minor + 1} (the next minor)` : same;
}

/**
 * Checks an upgrade from the installed to the wanted version: another patch of the same minor, or the next minor; never a lower
 * minor (https://kubernetes.io/releases/version-skew-policy/). Throws `InvalidInputError` whose remedy names the allowed targets.
 */
export function checkUpgrade(
  installed: KubernetesVersion,
  wanted: KubernetesVersion,
  field = 'version',
  newest = newestMinor,
): void {
  const refuse = (reason: string): InvalidInputError =>
    new InvalidInputError({
      field,
      value: versionText(wanted),
      reason,
      remedy: `from ${versionText(installed)} upgrade to ${allowedTargets(installed, newest)}`,
    });
  if (wanted.major !== installed.major) throw refuse('is a different major version');
  if (wanted.minor < installed.minor) throw refuse(`is a downgrade from ${versionText(installed)}`);
  if (wanted.minor > installed.minor + 1) throw refuse(`skips a minor version after ${versionText(installed)}`);
}

/** How many minors a kubelet may be older than its API server. */
export const kubeletSkew = 3;

/**
 * Checks a kubelet against its API server: not newer, and at most three minors older. Throws `InvalidInputError` whose remedy
 * names the allowed minors.
 */
export function checkKubeletSkew(
  apiServer: KubernetesVersion,
  kubelet: KubernetesVersion,
  field = 'kubeletVersion',
): void {
  const behind = apiServer.minor - kubelet.minor;
  if (kubelet.major === apiServer.major && behind >= 0 && behind <= kubeletSkew) return;
  const reason =
    behind < 0
      ? `is newer than its API server ${versionText(apiServer)}`
      : `is more than ${kubeletSkew} minors older than its API server ${versionText(apiServer)}`;
  const lowest = `v${apiServer.major}.${Math.max(0, apiServer.minor - kubeletSkew)}`;
  const remedy = `use a kubelet from ${lowest} to v${apiServer.major}.${apiServer.minor}`;
  throw new InvalidInputError({ field, value: versionText(kubelet), reason, remedy });
}

import { BadReleaseError } from '../asset-errors.ts';
import { assetFileName } from '../asset-file-name.ts';
import type { AssetLimits } from '../asset-limits.ts';

/** A file of a release: a blob. */
export interface ReleaseBlob {
  readonly name: string;
  readonly digest: string;
  readonly size: number;
}

/** What the manifest of a release names. */
export interface ReleaseManifest {
  /** `org.opencontainers.image.created`. */
  readonly createdAt?: string;
  readonly files: readonly ReleaseBlob[];
}

/** SHA-256 as OCI writes it; content that cannot be verified is not read. */
export const sha256 = /^sha256:[0-9a-f]{64}$/;

interface Written {
  readonly schemaVersion?: unknown;
  readonly mediaType?: unknown;
  readonly manifests?: unknown;
  readonly layers?: unknown;
  readonly annotations?: unknown;
}

/**
 * Reads an image manifest (OCI image specification 1.1). A layer is the file that its annotation
 * `org.opencontainers.image.title` names, with any media type, because csctl and oras use different ones. Layers without a
 * title are not files.
 * @throws BadReleaseError when it is not the manifest of a release, or exceeds the limits.
 */
export function parseReleaseManifest(text: string, release: string, limits: AssetLimits): ReleaseManifest {
  const manifest = written(text, release);
  if (Array.isArray(manifest.manifests)) {
    throw new BadReleaseError(
      `${release} is an image index with one image per platform: a release must be a single artifact, as "steward stack push" creates it`,
    );
  }
  if (manifest.schemaVersion !== 2 || !Array.isArray(manifest.layers)) {
    throw new BadReleaseError(
      `${release} is not an OCI image manifest: it must have schemaVersion 2 and a list of layers`,
    );
  }
  const files = manifest.layers.flatMap((layer: unknown) => blobOf(layer, release));
  const twice = files.find(({ name }, index) => files.findIndex((other) => other.name === name) < index);
  if (twice !== undefined) throw new BadReleaseError(`${release} has two layers with the title ${twice.name}`);
  if (files.length === 0) {
    throw new BadReleaseError(
      `${release} has no files: none of its layers has the annotation org.opencontainers.image.title; is it a container image?`,
    );
  }
  refuseLarge(files, release, limits);
  const createdAt = annotation(manifest.annotations, 'org.opencontainers.image.created');
  const isTime = createdAt !== undefined && /^\d{4}-\d\d-\d\dT/.test(createdAt) && !Number.isNaN(Date.parse(createdAt));
  return { files, ...(isTime && { createdAt }) };
}

function written(text: string, release: string): Written {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw new BadReleaseError(`${release} is not an OCI image manifest: it is not a JSON object`);
}

function blobOf(layer: unknown, release: string): readonly ReleaseBlob[] {
  const { digest, size, annotations } = (typeof layer === 'object' && layer !== null ? layer : {}) as {
    digest?: unknown;
    size?: unknown;
    annotations?: unknown;
  };
  const title = annotation(annotations, 'org.opencontainers.image.title');
  if (title === undefined || title === '') return [];
  const name = assetFileName(title, release);
  if (typeof digest !== 'string' || !sha256.test(digest)) {
    throw new BadReleaseError(`${release} refers to ${name} by something other than a SHA-256 digest`);
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw new BadReleaseError(`${release} does not state the size of ${name}`);
  }
  return [{ name, digest, size }];
}

function annotation(annotations: unknown, name: string): string | undefined {
  if (typeof annotations !== 'object' || annotations === null || !Object.hasOwn(annotations, name)) return undefined;
  const value: unknown = (annotations as Record<string, unknown>)[name];
  return typeof value === 'string' ? value : undefined;
}

function refuseLarge(files: readonly ReleaseBlob[], release: string, limits: AssetLimits): void {
  if (files.length > limits.maxFiles) {
    throw new BadReleaseError(`${release} has ${files.length} files; at most ${limits.maxFiles} are allowed`);
  }
  const large = files.find(({ size }) => size > limits.maxFileBytes);
  if (large !== undefined) {
    throw new BadReleaseError(
      `${release}: ${large.name} has ${large.size} bytes; at most ${limits.maxFileBytes} are allowed`,
    );
  }
  const all = files.reduce((sum, { size }) => sum + size, 0);
  if (all > limits.maxReleaseBytes) {
    throw new BadReleaseError(`${release} has ${all} bytes in total; at most ${limits.maxReleaseBytes} are allowed`);
  }
}

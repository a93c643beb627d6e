import { createHash } from 'node:crypto';

/** How one document of OCI names another (image-spec, descriptor). */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly os: string; readonly architecture: string };
  /** The content itself, in base64. */
  readonly data?: string;
}

/** Content with the descriptor that names it. */
export interface Content {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
}

/** Something that a registry keeps under a tag: a manifest, or an index of manifests, with all that it names. */
export interface Artifact {
  readonly manifest: Content;
  readonly blobs: readonly Content[];
  /** The manifests that an index names. */
  readonly manifests?: readonly Artifact[];
}

/** The SHA-256 of bytes, as OCI writes it. */
export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Bytes with their descriptor. */
export function content(mediaType: string, bytes: Uint8Array, rest: Partial<Descriptor> = {}): Content {
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length, ...rest }, bytes };
}

/** A JSON document with its descriptor. */
export const jsonContent = (mediaType: string, value: unknown): Content =>
  content(mediaType, Buffer.from(JSON.stringify(value)));

/** A file with its name, where oras and csctl look for it. */
export const fileContent = (mediaType: string, name: string, bytes: Uint8Array): Content =>
  content(mediaType, bytes, { annotations: { 'org.opencontainers.image.title': name } });

/** The configuration of artifacts that have none (image-spec, “Guidance for an empty descriptor”). */
export const emptyConfig: Content = content('application/vnd.oci.empty.v1+json', Buffer.from('{}'), { data: 'e30=' });

/** An artifact of a kind of its own: its configuration and its layers. */
export function artifactOf(
  config: Content,
  layers: readonly Content[],
  rest: { readonly artifactType?: string; readonly annotations?: Readonly<Record<string, string>> } = {},
): Artifact {
  const { artifactType, annotations } = rest;
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const manifest = jsonContent(mediaType, {
    ...{ schemaVersion: 2, mediaType, artifactType },
    config: config.descriptor,
    layers: layers.map(({ descriptor }) => descriptor),
    annotations,
  });
  return { manifest, blobs: [config, ...layers] };
}

/** An index of images, one for each platform. */
export function indexOf(
  images: readonly { readonly image: Artifact; readonly platform: NonNullable<Descriptor['platform']> }[],
): Artifact {
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  const manifests = images.map(({ image, platform }) => ({ ...image.manifest.descriptor, platform }));
  const manifest = jsonContent(mediaType, { schemaVersion: 2, mediaType, manifests });
  return { manifest, blobs: [], manifests: images.map(({ image }) => image) };
}

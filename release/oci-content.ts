import { createHash } from 'node:crypto';

/** How one document of OCI names another (image-spec, descriptor). */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly platform?: { readonly os: string; readonly architecture: string };
}

/** Content with the descriptor that names it. */
export interface Content {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
}

/** Media types of the image specification that releases use. */
export const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  index: 'application/vnd.oci.image.index.v1+json',
  empty: 'application/vnd.oci.empty.v1+json',
} as const;

/** The SHA-256 of bytes, as OCI writes it. */
export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** Bytes with their descriptor. */
export function content(mediaType: string, bytes: Uint8Array, rest: Partial<Descriptor> = {}): Content {
  return { descriptor: { mediaType, digest: digestOf(bytes), size: bytes.length, ...rest }, bytes };
}

/** A JSON document with its descriptor. */
export const jsonContent = (mediaType: string, value: unknown, rest: Partial<Descriptor> = {}): Content =>
  content(mediaType, Buffer.from(JSON.stringify(value)), rest);

/** Something that a registry keeps under a tag: a manifest, or an index of manifests, with all that it names. */
export interface Artifact {
  readonly manifest: Content;
  readonly blobs: readonly Content[];
  /** The manifests that an index names. */
  readonly manifests?: readonly Artifact[];
}

/** An artifact of a kind of its own: its configuration and its layers. */
export function artifactOf(
  config: Content,
  layers: readonly Content[],
  rest: { readonly artifactType?: string; readonly annotations?: Readonly<Record<string, string>> } = {},
): Artifact {
  const manifest = jsonContent(mediaTypes.manifest, {
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    ...(rest.artifactType !== undefined && { artifactType: rest.artifactType }),
    config: config.descriptor,
    layers: layers.map(({ descriptor }) => descriptor),
    ...(rest.annotations !== undefined && { annotations: rest.annotations }),
  });
  return { manifest, blobs: [config, ...layers] };
}

/** The configuration of artifacts that have none (image-spec, “Guidance for an empty descriptor”). */
export const emptyConfig: Content = content(mediaTypes.empty, Buffer.from('{}'));

import { createHash } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ReleaseNotFoundError } from '../clusterstacks/sources/asset-errors.ts';
import type { Artifact } from '../clusterstacks/sources/oci/artifact.ts';
import { artifactOf, content, emptyConfig, indexOf } from '../clusterstacks/sources/oci/artifact.ts';
import type { OciRepository } from '../clusterstacks/sources/oci/oci-repository.ts';
import { attestationOf } from './attestation.ts';
import { filesArtifact } from './files-artifact.ts';
import { imageArtifact } from './image-artifact.ts';
import type { PlatformImage } from './image-artifact.ts';
import { writeManagerImage } from './manager-image.ts';
import type { RegistryAccess } from './open-repository.ts';
import { openRepository } from './open-repository.ts';
import { writePluginRelease } from './plugin-release.ts';
import { writeProviderRelease } from './provider-release.ts';
import { provenanceOf } from './provenance.ts';
import { pushChart } from './push-chart.ts';
import { readSource } from './read-source.ts';
import { releaseNotes } from './release-notes.ts';
import { releaseVersion } from './release-version.ts';
import { imageSbom } from './sbom.ts';
import { foreignSystem } from './system/foreign-system.ts';
import { ownArchitecture } from './system/image-system.ts';
import type { Architecture, DebianPackage } from './system/image-system.ts';
import { ownSystem } from './system/own-system.ts';
import { publicPem, signatureOf, tagBeside } from './signature.ts';

const root = join(import.meta.dirname, '..');
/** Requests have limits of their own. */
const never = new AbortController().signal;

/** What is released, and where to. */
export interface Release {
  /** With or without a v. */
  readonly version: string;
  /** HOST[:PORT]/PATH, below which the repositories are. */
  readonly registry: string;
  readonly access: RegistryAccess;
  /** What the image runs on, each once. */
  readonly architectures: readonly Architecture[];
  /** Signs every artifact; without it nothing is signed. */
  readonly key?: KeyObject | undefined;
  /** Folder that gets what is published, for a page of releases too. */
  readonly out: string;
  readonly log: (line: string) => void;
}

/** One artifact of a release. */
export interface Published {
  /** `host/path:tag`. */
  readonly reference: string;
  readonly digest: string;
}

/** The type of the artifact with a provider's components, metadata and templates. */
export const providerArtifactType = 'application/vnd.butlerlabs.steward.provider.v1';

/**
 * Builds and publishes a release: image, bill of materials, provenance, charts, and last the components, which are what a release is known by.
 * A version that is there is never replaced; one that failed on its way can be published again.
 */
export async function publishRelease(release: Release): Promise<readonly Published[]> {
  const { registry, access, architectures, key, out, log } = release;
  const version = await releaseVersion(release.version);
  const tag = `v${version}`;
  const [image, components] = [`${registry}/steward`, `${registry}/steward-components`];
  const notes = releaseNotes(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
  if (await hasTag(openRepository(components, access), tag)) {
    throw new Error(`${components}:${tag} already exists; a version is never replaced, choose the next one`);
  }
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'release-notes.md'), notes);
  const published: Published[] = [];
  const signed = async (where: string, as: string, digest: string): Promise<string> => {
    if (key !== undefined) {
      await openRepository(where, access).push(signatureOf(where, digest, key), tagBeside(digest, 'sig'), never);
    }
    const reference = `${where}:${as}`;
    log(`${reference} ${digest}`);
    published.push({ reference, digest });
    return digest;
  };
  const publish = async (where: string, artifact: Artifact, as: string): Promise<string> =>
    signed(where, as, await openRepository(where, access).push(artifact, as, never));

  const name = `${image}:${tag}`;
  const { images, packages, debian } = await buildImages(release, { name, version });
  const imageDigest = await publish(image, indexOf(images), tag);

  const sbom = Buffer.from(JSON.stringify(await imageSbom(version, { packages, debian }), null, 2));
  await writeFile(join(out, 'sbom.cdx.json'), sbom);
  const bill = artifactOf(emptyConfig, [content('application/vnd.cyclonedx+json', sbom)]);
  await publish(image, bill, tagBeside(imageDigest, 'sbom'));

  if (key !== undefined) {
    const facts = { image, digest: imageDigest, version, architectures, environment: process.env };
    const [source, lock] = await Promise.all([readSource(root), readFile(join(root, 'package-lock.json'))]);
    const statement = provenanceOf({ ...facts, source, lock: createHash('sha256').update(lock).digest('hex') });
    await openRepository(image, access).push(attestationOf(statement, key), tagBeside(imageDigest, 'att'), never);
    await writeFile(join(out, 'provenance.json'), JSON.stringify(statement, null, 2));
  }

  for (const chart of ['steward', 'steward-crds'] as const) {
    const digest = await pushChart({ chart, version, image, into: out }, `${registry}/charts`, access);
    await signed(`${registry}/charts/${chart}`, version, digest);
  }

  const plugin = await writePluginRelease(join(out, 'kubectl-steward'), version);
  log(`${plugin.archive} sha256:${plugin.sha256}`);

  const { folder } = await writeProviderRelease(join(out, 'control-plane-steward', tag), { version, image: name });
  await publish(components, await filesArtifact(folder, providerArtifactType), tag);
  if (key !== undefined) await writeFile(join(out, 'steward.pub'), publicPem(key));
  const digests = published.map(({ reference, digest }) => `${digest}  ${reference}\n`);
  await writeFile(join(out, 'digests.txt'), digests.join(''));
  return published;
}

interface Images {
  readonly images: readonly PlatformImage[];
  /** Folders of the npm packages in them. */
  readonly packages: readonly string[];
  readonly debian: readonly DebianPackage[];
}

/** The image for each architecture; all have the same bundle. */
async function buildImages(
  { architectures, out, log }: Release,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<Images> {
  const images: PlatformImage[] = [];
  const debian: DebianPackage[] = [];
  let packages: readonly string[] = [];
  for (const architecture of architectures) {
    const folder = join(out, architecture);
    await mkdir(folder);
    const isOwn = architecture === ownArchitecture;
    const system = isOwn ? await ownSystem() : await foreignSystem(architecture, folder, log);
    const archive = join(folder, 'image.tar');
    packages = await writeManagerImage(archive, { name, version, system, labels: imageLabels(version) });
    images.push(await imageArtifact(archive));
    debian.push(...(await system.packages()));
    await rm(folder, { recursive: true });
  }
  return { images, packages, debian };
}

/** What an image says of itself. */
export const imageLabels = (version: string): Readonly<Record<string, string>> => ({
  'org.opencontainers.image.title': 'steward',
  'org.opencontainers.image.source': 'https://github.com/butlerdotdev/steward',
  'org.opencontainers.image.licenses': 'Apache-2.0',
  'org.opencontainers.image.version': `v${version}`,
});

async function hasTag(repository: OciRepository, tag: string): Promise<boolean> {
  try {
    await repository.manifest(tag, never);
    return true;
  } catch (error) {
    if (error instanceof ReleaseNotFoundError) return false;
    throw error;
  }
}

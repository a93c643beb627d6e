import type { KeyObject } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { chartArtifact, charts } from './chart-artifact.ts';
import { filesArtifact } from './files-artifact.ts';
import { imageArtifact } from './image-artifact.ts';
import { systemFiles, writeManagerImage } from './manager-image.ts';
import type { Artifact } from './oci-content.ts';
import { artifactOf, content, emptyConfig } from './oci-content.ts';
import { writeProviderRelease } from './provider-release.ts';
import type { RegistryAddress } from './registry-address.ts';
import { addressText, below } from './registry-address.ts';
import type { RegistryOptions } from './registry.ts';
import { Registry, RegistryError } from './registry.ts';
import { releaseNotes } from './release-notes.ts';
import { releaseVersion } from './release-version.ts';
import { imageSbom } from './sbom.ts';
import { publicPem, signatureOf, tagBeside } from './signature.ts';

const root = join(import.meta.dirname, '..');

/** What is released, and where to. */
export interface Release {
  /** With or without a v. */
  readonly version: string;
  readonly registry: RegistryAddress;
  readonly access: RegistryOptions;
  /** Signs every artifact; without it nothing is signed. */
  readonly key?: KeyObject | undefined;
  /** Folder that gets what is published, for a page of releases too. */
  readonly out: string;
  readonly tell: (line: string) => void;
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
 * Builds and publishes a release: image, bill of materials, charts, and last the components, which are what a release is known by.
 * A version that is there is never replaced; one that failed on its way can be published again.
 */
export async function publishRelease(release: Release): Promise<readonly Published[]> {
  const { registry, access, key, out, tell } = release;
  const version = await releaseVersion(release.version);
  const tag = `v${version}`;
  const image = below(registry, 'steward');
  const components = below(registry, 'steward-components');
  const notes = releaseNotes(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
  if ((await new Registry(components, access).manifest(tag)) !== undefined) {
    throw new RegistryError(
      `${addressText(components)}:${tag} already exists; a version is never replaced, choose the next one`,
    );
  }
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  await writeFile(join(out, 'release-notes.md'), notes);
  const published: Published[] = [];
  const publish = async (where: RegistryAddress, artifact: Artifact, as: string): Promise<string> => {
    const repository = new Registry(where, access);
    const digest = await repository.push(artifact, as);
    if (key !== undefined) {
      await repository.push(signatureOf(addressText(where), digest, key), tagBeside(digest, 'sig'));
    }
    const reference = `${addressText(where)}:${as}`;
    tell(`${reference} ${digest}`);
    published.push({ reference, digest });
    return digest;
  };

  const archive = join(out, 'image.tar');
  const name = `${addressText(image)}:${tag}`;
  await writeManagerImage(archive, { name, version, labels: imageLabels(version) });
  const imageDigest = await publish(image, await imageArtifact(archive), tag);
  await rm(archive);

  const sbom = Buffer.from(JSON.stringify(await imageSbom(version, await systemFiles()), null, 2));
  await writeFile(join(out, 'sbom.cdx.json'), sbom);
  const bill = artifactOf(emptyConfig, [content('application/vnd.cyclonedx+json', sbom)]);
  await publish(image, bill, tagBeside(imageDigest, 'sbom'));

  for (const chart of charts) {
    const artifact = await chartArtifact(out, { chart, version, image: addressText(image) });
    await publish(below(registry, `charts/${chart}`), artifact, version);
  }
  await rm(join(out, '.charts'), { recursive: true, force: true });

  const { folder } = await writeProviderRelease(join(out, 'control-plane-steward', tag), { version, image: name });
  await publish(components, await filesArtifact(folder, providerArtifactType), tag);
  if (key !== undefined) await writeFile(join(out, 'steward.pub'), publicPem(key));
  const digests = published.map(({ reference, digest }) => `${digest}  ${reference}\n`);
  await writeFile(join(out, 'digests.txt'), digests.join(''));
  return published;
}

const imageLabels = (version: string): Readonly<Record<string, string>> => ({
  'org.opencontainers.image.title': 'steward',
  'org.opencontainers.image.source': 'https://github.com/butlerdotdev/steward',
  'org.opencontainers.image.licenses': 'Apache-2.0',
  'org.opencontainers.image.version': `v${version}`,
});

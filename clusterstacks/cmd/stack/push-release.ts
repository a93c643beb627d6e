import type { Artifact } from '../../sources/oci/artifact.ts';
import type { KnownRelease } from './known-release.ts';
import { releaseArtifact } from './release-artifact.ts';
import { StackError } from './stack-error.ts';

/** A repository of a registry, as far as pushing needs it. */
export interface PushTarget {
  readonly address: string;
  /** The manifest of a tag; throws an error of the name `ReleaseNotFoundError` when there is none. */
  manifest(reference: string, signal: AbortSignal): Promise<{ readonly digest: string; readonly bytes: Buffer }>;
  push(artifact: Artifact, tag: string, signal: AbortSignal): Promise<string>;
}

/** What became of a push. */
export interface Pushed {
  readonly reference: string;
  readonly digest: string;
  /** The same release was there already, and stays as it is. */
  readonly wasThere: boolean;
}

/**
 * Pushes a release under its name.
 * @throws StackError when another release has that tag: tags are not moved, because clusters may use what they name.
 */
export async function pushRelease(
  release: KnownRelease,
  target: PushTarget,
  { createdAt, signal }: { readonly createdAt: string; readonly signal: AbortSignal },
): Promise<Pushed> {
  const artifact = releaseArtifact(release, createdAt);
  const reference = `${target.address}:${release.name}`;
  const found = await existing(target, release.name, signal);
  if (found !== undefined) {
    const [there, wanted] = [found.bytes, artifact.manifest.bytes].map((bytes) => filesIn(bytes).sort().join('\n'));
    if (there !== wanted) {
      throw new StackError(
        `${reference} already exists with other content, of digest ${found.digest}; choose another version`,
      );
    }
    return { reference, digest: found.digest, wasThere: true };
  }
  return { reference, digest: await target.push(artifact, release.name, signal), wasThere: false };
}

async function existing(target: PushTarget, tag: string, signal: AbortSignal): ReturnType<typeof maybe> {
  return maybe(target.manifest(tag, signal));
}

async function maybe(answer: ReturnType<PushTarget['manifest']>): Promise<Awaited<typeof answer> | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && error.name === 'ReleaseNotFoundError') return undefined;
    throw error;
  }
}

/** `title digest` of each layer. */
function filesIn(manifest: Uint8Array): string[] {
  const { layers = [] } = JSON.parse(Buffer.from(manifest).toString()) as {
    layers?: { digest?: string; annotations?: Readonly<Record<string, string>> }[];
  };
  return layers.map(
    ({ digest = '', annotations = {} }) => `${annotations['org.opencontainers.image.title'] ?? ''} ${digest}`,
  );
}

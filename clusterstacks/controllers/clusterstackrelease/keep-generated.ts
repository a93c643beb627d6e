import { generatedAnnotation, regenerateAnnotation } from '../../api/names.ts';
import type { ClusterStackRelease } from '../../api/cluster-stack-release.ts';
import type { KindRef, Manifest } from '../../../api/meta.ts';
import type { Cluster } from '../../../runtime/client/cluster.ts';
import { identityOf, keyOf } from '../../../runtime/cache/object-id.ts';
import type { Renderings } from '../../sources/generated-parts.ts';
import { digestOf } from '../../sources/generated-parts.ts';

/** The manifests of a release as they are sent, and those that stay as they are. */
export interface SentAndKept {
  readonly manifests: readonly Manifest[];
  readonly kept: readonly Manifest[];
}

/**
 * Random parts of a chart, such as certificates, are generated once and kept while all of them exist, from one rendering,
 * and their inputs stay the same. A missing one could not be generated alone, because a certificate fits only its own CA.
 */
export async function keepGenerated(
  cluster: Pick<Cluster, 'get'>,
  of: {
    readonly release: ClusterStackRelease;
    readonly manifests: readonly Manifest[];
    readonly renderings: Pick<Renderings, 'generated' | 'generatedDigest'>;
    readonly kindOf: (manifest: Manifest) => KindRef | undefined;
  },
  signal: AbortSignal,
): Promise<SentAndKept> {
  const { release, manifests, renderings, kindOf } = of;
  const names = new Set(renderings.generated.map(nameOf));
  const generated = manifests.filter((manifest) => names.has(nameOf(manifest)));
  if (generated.length === 0) return { manifests, kept: [] };
  const regeneration = release.metadata.annotations?.[regenerateAnnotation] ?? '';
  const prefix = `${digestOf([renderings.generatedDigest, regeneration])}.`;
  const marks = await Promise.all(
    generated.map(async (manifest) => {
      const kind = kindOf(manifest);
      const current = kind && (await cluster.get(kind, keyOf(manifest), { signal }));
      const isOurs = current?.metadata.ownerReferences?.some(({ uid }) => uid === release.metadata.uid) === true;
      return isOurs ? current.metadata.annotations?.[generatedAnnotation] : undefined;
    }),
  );
  const [first] = marks;
  const rest = manifests.filter((manifest) => !generated.includes(manifest));
  if (first?.startsWith(prefix) === true && marks.every((mark) => mark === first)) {
    return { manifests: rest, kept: generated };
  }
  const mark = `${prefix}${digestOf(generated)}`;
  return { manifests: [...rest, ...generated.map((manifest) => withMark(manifest, mark))], kept: [] };
}

/** Without the namespace, which is the release's own by now. */
const nameOf = ({ metadata, ...manifest }: Manifest): string =>
  identityOf({ ...manifest, metadata: { name: metadata.name } });

function withMark(manifest: Manifest, mark: string): Manifest {
  const annotations = { ...manifest.metadata.annotations, [generatedAnnotation]: mark };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

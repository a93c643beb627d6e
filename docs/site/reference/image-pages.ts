import { kubernetesReleases } from '../../../e2e/tools/kubernetes-releases.ts';
import { imagesOfVersion, otherImages } from './image-list.ts';
import type { ListedImage } from './image-list.ts';

const folder = 'docs/reference/generated';

function table(images: readonly ListedImage[]): string {
  const lines = images.map(({ image, neededBy, field }) => `| \`${image}\` | ${neededBy} | ${field} |`);
  return ['| Image | Needed by | Choose another one with |', '| --- | --- | --- |', ...lines].join('\n');
}

/** docs/reference/generated/images.md and images.txt, by path: every image that is pulled unless told otherwise. */
export function imagePages(version: string, quickStarts: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const other = otherImages(version, quickStarts);
  const tested = kubernetesReleases.map(({ version: release }) => imagesOfVersion(release));
  const page = [
    '<!-- Made by `npm run gen`; do not edit. -->',
    '# Images',
    'Every image that Steward, its quick-start datastores and tenants pull unless told otherwise. [`images.txt`](images.txt) has the same, one image a line, then a tab and what needs it; [Air gap](../../how-to/air-gap.md) uses it. Other patches of a minor have the tag of their version.',
    '## Steward and datastores',
    table(other),
    '## Control planes and add-ons',
    'For the tested patch of each minor. The management cluster pulls the first three, and the image of the konnectivity server; the others are pulled by workers.',
    table(tested.flat()),
  ];
  const text = [...other, ...tested.flat()].map(({ image, neededBy }) => `${withHost(image)}\t${neededBy}\n`);
  return new Map([
    [`${folder}/images.md`, `${page.join('\n\n')}\n`],
    [`${folder}/images.txt`, text.join('')],
  ]);
}

/** Programs that copy images want the host that container runtimes add. */
function withHost(image: string): string {
  return /^[^/]+\.[^/]+\//.test(image) ? image : `docker.io/${image}`;
}

import { listOfPages } from './navigation.ts';

/** The address of a page of docs/ on the site, below its base and without slashes around it; undefined for any other file. */
export function pageRoute(page: string): string | undefined {
  if (page === listOfPages) return 'pages';
  return /^docs\/(?!site\/)(.+)\.md$/.exec(page)?.[1];
}

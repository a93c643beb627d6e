import { largestPage, longestPage } from '../tenancy-data.ts';

/** Cuts a list into pages of at most `longestPage` items and, unless it is a single item, `largestPage` bytes. */
export function* pagesOf<T>(items: readonly T[], bytesOf: (item: T) => number): Generator<readonly T[]> {
  let page: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (page.length === longestPage || (page.length > 0 && bytes + size > largestPage)) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(item);
    bytes += size;
  }
  if (page.length > 0) yield page;
}

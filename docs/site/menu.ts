import { listOfPages, navigationOf } from './navigation.ts';
import type { NavigationGroup } from './navigation.ts';
import { titleOf } from './landing-page.ts';
import { pageRoute } from './page-route.ts';
import type { DocsTree } from './read-pages.ts';

/** An entry of the generator's menu. */
export type MenuEntry =
  | { readonly label: string; readonly link: string }
  | { readonly label: string; readonly collapsed: boolean; readonly items: readonly MenuEntry[] };

/** Groups that few readers want at first. */
const closed = /^(Reference|Project|Decisions|Generated)/;

/** The menu beside every page, from the list of pages. */
export function menuOf({ pages }: DocsTree): readonly MenuEntry[] {
  const entry = (page: string): MenuEntry => ({ label: titleOf(page, pages), link: `/${pageRoute(page) ?? ''}/` });
  const group = ({ label, pages: own, groups }: NavigationGroup, depth: number): MenuEntry => ({
    label,
    collapsed: depth > 0 || closed.test(label),
    items: [...own.map(entry), ...groups.map((inside) => group(inside, depth + 1))],
  });
  const groups = navigationOf(pages.get(listOfPages) ?? '').map((each) => group(each, 0));
  return [{ label: 'Find a page', link: '/pages/' }, ...groups];
}

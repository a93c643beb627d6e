import { expect, test } from '@jest/globals';
import { recipe } from '../controllers/tenantcontrolplane/recipe.ts';
import { phasesPage } from './phases-page.ts';

test('the page shows every phase once, after all that it runs after', () => {
  const shown = [...phasesPage(recipe.toReversed()).matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name ?? '');
  expect(shown.toSorted()).toEqual(recipe.map(({ name }) => name).toSorted());
  for (const { name, needs, after } of recipe) {
    for (const before of [...needs, ...after]) expect(shown.indexOf(before)).toBeLessThan(shown.indexOf(name));
  }
});

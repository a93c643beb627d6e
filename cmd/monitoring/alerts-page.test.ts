import { expect, test } from '@jest/globals';

import { alerts } from './alerts.ts';
import { alertsPage } from './alerts-page.ts';
import { ruleGroups } from './prometheus-rules.ts';

const page = alertsPage(alerts);

test.each(alerts.map(({ name }) => name))('%s has a section that its rule points to, with something to do', (name) => {
  const section = page.split('\n## ').find((each) => each.startsWith(`${name}\n`));
  expect(section).toMatch(/\n1\. /);
  expect(JSON.stringify(ruleGroups(alerts))).toContain(`docs/reference/generated/alerts.md#${name.toLowerCase()}"`);
});

test('labels of a series are places to fill in, for people who read the page', () => {
  expect(page).toContain('The control plane `<namespace>`/`<name>` does not serve');
  expect(page).not.toContain('$labels');
});

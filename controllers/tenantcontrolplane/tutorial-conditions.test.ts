import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { TenantWorld } from '../../testing/worlds/tenant-world.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/tutorial/first-tenant.md'), 'utf8');

test('The tutorial shows the conditions that a Ready tenant has, in their order', async () => {
  const world = new TenantWorld();
  await world.create({ spec: { dataStore: 'default', addons: { coreDNS: {}, kubeProxy: {} } } });
  await world.settle();
  const conditions = (await world.read()).status?.conditions ?? [];
  const shown = conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  expect(page).toContain(`\`\`\`text\n${shown.join('\n')}\n\`\`\``);
});

import { expect, test } from '@jest/globals';

import { throughRouter } from './through-router.ts';

test('A kubeconfig leads to a router, and verifies the host name that it had', () => {
  const cluster = (lines: readonly string[]): string =>
    ['clusters:', '- cluster:', ...lines, '  name: shop'].join('\n');
  const kubeconfig = cluster(['    server: https://shop.example:443']);
  expect(throughRouter(kubeconfig, '192.0.2.1')).toBe(
    cluster(['    server: https://192.0.2.1:443', '    tls-server-name: shop.example']),
  );
});

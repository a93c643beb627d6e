import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { labels, stewardGroup } from '../../api/names.ts';

interface Webhook {
  readonly name: string;
  readonly failurePolicy: string;
  readonly objectSelector?: {
    readonly matchExpressions: readonly { readonly key: string; readonly operator: string }[];
  };
  readonly rules: readonly { readonly apiGroups: readonly string[] }[];
}

const file = join(import.meta.dirname, '../../config/webhook/webhooks.yaml');
const webhooks = parseAllDocuments(readFileSync(file, 'utf8')).flatMap(
  (document) => (document.toJS() as { readonly webhooks?: readonly Webhook[] }).webhooks ?? [],
);
const named = (wanted: (webhook: Webhook) => boolean): readonly string[] =>
  webhooks.filter(wanted).map(({ name }) => name);

describe('The webhooks', () => {
  test('deny changes to objects of Steward while no manager answers, and allow deletions of Secrets', () => {
    expect(webhooks.length).toBeGreaterThan(1);
    expect(named(({ failurePolicy }) => failurePolicy !== 'Fail')).toEqual(['vdatastoresecrets.kb.io']);
  });

  test('are called for kinds of others only if the object has a label of Steward', () => {
    const own = new Set([stewardGroup, 'controlplane.cluster.x-k8s.io']);
    const others = webhooks.filter(({ rules }) =>
      rules.some(({ apiGroups }) => apiGroups.some((each) => !own.has(each))),
    );
    expect(others.map(({ name, objectSelector }) => [name, objectSelector?.matchExpressions])).toEqual([
      ['vdatastoresecrets.kb.io', [{ key: labels.dataStoreCredentials, operator: 'Exists' }]],
      ['vdatastoreservers.kb.io', [{ key: labels.dataStoreServers, operator: 'Exists' }]],
    ]);
  });
});

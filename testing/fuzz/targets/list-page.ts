import { kinds } from '../../../api/core/kinds.ts';
import { parsePage, storedObject } from '../../../runtime/client/decode-object.ts';
import { UnreachableError } from '../../../runtime/client/errors.ts';
import { parseNodePage } from '../../../controllers/tenantcontrolplane/upgrade/node-page.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const node = {
  metadata: { name: 'a', uid: 'b', resourceVersion: '7' },
  status: { nodeInfo: { kubeletVersion: 'v1.36.3' } },
};

/** A page of a list. */
export const listPage: FuzzTarget = {
  name: 'list-page',
  from: 'the API server of a tenant',
  seeds: () => [
    JSON.stringify({ kind: 'NodeList', metadata: { resourceVersion: '7', continue: 'x' }, items: [node] }),
    JSON.stringify({ kind: 'NodeList', metadata: { resourceVersion: '7' }, items: null }),
  ],
  refusals: [UnreachableError],
  parse: (input) => {
    const text = input.toString();
    for (const { node: name, version } of parseNodePage(text)?.kubelets ?? [])
      kept(/^[\w.+:/?-]{0,100}$/.test(name) && /^[\w.+:/?-]{0,100}$/.test(version), 'names of nodes can be shown');
    const { items, next } = parsePage(kinds.Node, text);
    kept(next !== '', 'a list goes on somewhere, or ends');
    for (const item of items) storedObject(kinds.Node, item);
  },
};

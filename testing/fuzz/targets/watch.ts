import { kinds } from '../../../api/core/kinds.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { LineSplitter, LineTooLongError } from '../../../runtime/client/line-splitter.ts';
import { parseWatchEvent } from '../../../runtime/client/watch-event.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { kept } from '../kept.ts';

const object = { metadata: { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '7' }, data: { key: 'dmFsdWU=' } };

/** The stream of a watch, cut into pieces. */
export const watch: FuzzTarget = {
  name: 'watch',
  from: 'the API server of a tenant',
  seeds: () => [
    `${JSON.stringify({ type: 'ADDED', object })}\n${JSON.stringify({ type: 'DELETED', object })}\n`,
    `${JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } } } })}\n`,
    `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } })}\n`,
  ],
  refusals: [ApiError, UnreachableError, LineTooLongError],
  parse: (input) => {
    const lines = new LineSplitter(1024);
    const cut = input.length === 0 ? 0 : (input[0] ?? 0) % input.length;
    for (const piece of [input.subarray(0, cut), input.subarray(cut)]) {
      for (const line of lines.push(piece)) {
        kept(!line.includes('\n') && line !== '', 'a line is one line');
        const event = parseWatchEvent(kinds.Secret, line, false);
        if ('object' in event) kept(typeof event.object.metadata.uid === 'string', 'an object has a UID');
        else kept(typeof event.resourceVersion === 'string', 'a bookmark has a version');
      }
    }
    lines.end();
  },
};

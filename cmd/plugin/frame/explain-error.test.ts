import { expect, test } from '@jest/globals';
import { KubeconfigError } from '../../../api/kubeconfig.ts';
import { ApiError, UnreachableError } from '../../../runtime/client/errors.ts';
import { UsageError } from '../../flags/flags.ts';
import { explainError } from './explain-error.ts';
import { PluginError } from './plugin-error.ts';

test.each([
  [new PluginError('no\n  such \u001b[31mthing', 3), 'no such [31mthing', 3],
  [new UsageError('--x: is none'), '--x: is none', 2],
  [
    new ApiError(401, 'Unauthorized', 'Unauthorized'),
    'the API server does not accept the credentials: Unauthorized; log in again, or choose another --context',
    1,
  ],
  [new ApiError(403, 'Forbidden', 'tcps is forbidden'), 'tcps is forbidden; ask the operator for this permission', 1],
  [
    new ApiError(404, 'NotFound', 'not found'),
    'not found; if the kind is unknown, Steward is not installed in this cluster',
    3,
  ],
  [new ApiError(409, 'Conflict', 'changed meanwhile'), 'changed meanwhile; run the command again', 1],
  [new ApiError(422, 'Invalid', 'spec.x: no'), 'spec.x: no', 1],
  [
    new UnreachableError('GET /x: h is not reachable'),
    'GET /x: h is not reachable; check the address in the kubeconfig, --context and --kubeconfig',
    1,
  ],
  [
    new KubeconfigError('kubeconfig f: cannot be read', { cause: new Error('EACCES') }),
    'kubeconfig f: cannot be read: EACCES',
    1,
  ],
])('%p is explained in one line', (error, message, exitCode) => {
  expect(explainError(error)).toEqual({ message, exitCode });
});

test('a defect is not explained', () => {
  expect(explainError(new TypeError('x is undefined'))).toBeUndefined();
});

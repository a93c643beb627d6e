import { expect, test } from '@jest/globals';
import { apiError } from './api-status.ts';

test('an answer without a Status is its own message, without the line end', () => {
  expect(apiError(503, ' no healthy upstream\n')).toMatchObject({
    code: 503,
    reason: 'ServiceUnavailable',
    message: 'no healthy upstream',
  });
});

test('an answer of white space has no message', () => {
  expect(apiError(502, ' \n')).toMatchObject({ code: 502, reason: 'Unknown', message: 'the response has no message' });
});

test('a list that has expired has the token to continue with', () => {
  const metadata = { continue: 'there' };
  expect(apiError(410, JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired', metadata }))).toMatchObject({
    code: 410,
    next: 'there',
  });
  expect(apiError(410, JSON.stringify({ kind: 'Status', code: 410, reason: 'Expired' })).next).toBeUndefined();
});

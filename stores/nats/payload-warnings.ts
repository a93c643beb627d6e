import type { EndpointAnswer } from './client.ts';

/** An object of the API server's 1.5 MiB (https://etcd.io/docs/v3.6/dev-guide/limit), as base64 within JSON. */
const largestMessage = Math.ceil((1.5 * 1024 * 1024 * 4) / 3) + 4096;

/** Notes about servers that do not accept objects as large as those of an API server. */
export function payloadWarnings(answers: readonly EndpointAnswer[]): readonly string[] {
  return answers.flatMap((answer) => {
    if ('failure' in answer || answer.maxPayload >= largestMessage) return [];
    const seen = `max_payload is ${answer.maxPayload} bytes`;
    return [`${answer.endpoint}: ${seen}, too small for the largest objects: set max_payload: 8MB`];
  });
}

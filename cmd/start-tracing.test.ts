import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { failSpan, inSpan, pastSpan } from '../runtime/observe/in-span.ts';
import { silent } from '../runtime/observe/logger.ts';
import { Closing } from './closing.ts';
import { startTracing } from './start-tracing.ts';

interface Span {
  readonly name: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly key: string; readonly value: object }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

let server: Server | undefined;
afterEach(() => {
  server?.close();
});

/** A collector of OpenTelemetry, and what it was sent. */
async function collector(): Promise<{ readonly endpoint: string; readonly sent: Sent[] }> {
  const sent: Sent[] = [];
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      sent.push(JSON.parse(Buffer.concat(parts).toString('utf8')) as Sent);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, sent };
}

/** What the manager does while it is traced; returns once the last span is sent or given up. */
async function traced(endpoint: string, ratio: number, log = silent): Promise<void> {
  const closing = new Closing();
  startTracing({
    settings: { tracing: { endpoint, ratio }, podName: 'steward-0', podNamespace: 'system' },
    log,
    closing,
  });
  await inSpan('reconcile', { 'k8s.object.name': 'shop' }, async (span) => {
    await inSpan('phase', {}, async () => {
      await Promise.resolve();
      pastSpan('get management', {}, 5);
    });
    failSpan(span, new Error('not done'));
  });
  await closing.close();
}

describe('Traces', () => {
  test('have reconciles with their phases and requests inside, and say who sent them', async () => {
    const { endpoint, sent } = await collector();
    await traced(endpoint, 1);
    const spans = sent.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap((of) => of.scopeSpans.flatMap((s) => s.spans)),
    );
    const named = (name: string): Span | undefined => spans.find((span) => span.name === name);
    expect(spans.map(({ name }) => name).toSorted()).toEqual(['get management', 'phase', 'reconcile']);
    expect(named('get management')?.parentSpanId).toBe(named('phase')?.spanId);
    expect(named('phase')?.parentSpanId).toBe(named('reconcile')?.spanId);
    expect(named('reconcile')?.status).toEqual({ code: 2, message: 'not done' });
    const attributes = sent[0]?.resourceSpans[0]?.resource.attributes;
    expect(attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'steward' } });
    expect(attributes).toContainEqual({ key: 'k8s.pod.name', value: { stringValue: 'steward-0' } });
  });

  test('are not collected without an endpoint, and the work is done all the same', async () => {
    startTracing({
      settings: { tracing: undefined, podName: '', podNamespace: '' },
      log: silent,
      closing: new Closing(),
    });
    expect(await inSpan('reconcile', {}, (span) => Promise.resolve(span.isRecording()))).toBe(false);
    await expect(inSpan('reconcile', {}, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });

  test('that no collector receives are lost, and nothing else fails', async () => {
    const { endpoint, sent } = await collector();
    server?.close();
    await traced(endpoint, 1);
    expect(sent).toEqual([]);
  });
});

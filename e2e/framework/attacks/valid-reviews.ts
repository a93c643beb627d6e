import { Agent, request } from 'node:https';
import { slowness } from '../../cluster/slowness.ts';

/** What became of valid requests. */
export interface ReviewCounts {
  readonly sent: number;
  readonly failures: readonly string[];
  /** Milliseconds below which 99 of 100 were answered. */
  readonly p99Ms: number;
}

/** An admission webhook, and an object that it allows. */
export interface Reviewed {
  readonly url: string;
  readonly object: object;
  readonly perSecond: number;
}

/** Reviews that are being sent. Disposing stops them, too. */
export interface ReviewSender extends AsyncDisposable {
  stop(): Promise<ReviewCounts>;
}

/** Sends valid AdmissionReviews at a steady pace over kept connections, as an API server does, until it is stopped. */
export function sendReviews({ url, object, perSecond }: Reviewed): ReviewSender {
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 16 });
  const failures: string[] = [];
  const took: number[] = [];
  const running = new Set<Promise<void>>();
  let sent = 0;
  const started = performance.now();
  const sendOne = (): void => {
    sent += 1;
    const uid = `review-${sent}`;
    const began = performance.now();
    const answered = send(agent, url, reviewOf(uid, object))
      .then((body) => {
        const { response } = JSON.parse(body) as { response?: { uid?: string; allowed?: boolean } };
        if (response?.uid !== uid || response.allowed !== true) failures.push(body.slice(0, 300));
        took.push(performance.now() - began);
      })
      .catch((error: unknown) => {
        failures.push(String(error));
      })
      .finally(() => running.delete(answered));
    running.add(answered);
  };
  const timer = setInterval(() => {
    // A timer that comes late comes once for all that it missed, and the pace is to be kept.
    while (sent < ((performance.now() - started) * perSecond) / 1000) sendOne();
  }, 1000 / perSecond);
  const stop = async (): Promise<ReviewCounts> => {
    clearInterval(timer);
    await Promise.all(running);
    agent.destroy();
    const sorted = took.toSorted((a, b) => a - b);
    return { sent, failures, p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Infinity };
  };
  return {
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}

function reviewOf(uid: string, object: object): string {
  const kind = { group: 'steward.butlerlabs.dev', version: 'v1alpha1', kind: 'TenantControlPlane' };
  const name = { namespace: 'default', name: 'reviewed' };
  const asked = {
    uid,
    kind,
    operation: 'CREATE',
    ...name,
    userInfo: { username: 'kubernetes-admin' },
    dryRun: true,
    object,
  };
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked });
}

function send(agent: Agent, url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const timeout = 10_000 * slowness();
    const sending = request(url, { agent, method: 'POST', headers, timeout }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('error', reject).once('end', () => {
        if (response.statusCode === 200) resolve(text);
        else reject(new Error(`${response.statusCode}: ${text.slice(0, 300)}`));
      });
    });
    sending.once('error', reject).once('timeout', () => sending.destroy(new Error(`no answer for ${timeout} ms`)));
    sending.end(body);
  });
}

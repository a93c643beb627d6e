import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

/** True when a GET is answered with 200 within 2 s; anything else, a refused connection too, is false. */
export const answersOk = async (
  url: string,
  tls: { ca?: string; cert?: string; key?: string } = {},
): Promise<boolean> =>
  new Promise((resolve) => {
    const options = { timeout: 2000, agent: false as const };
    const request = url.startsWith('https:') ? getHttps(url, { ...options, ...tls }) : getHttp(url, options);
    request.once('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    // Not answering yet is what the caller waits out.
    request.once('error', () => {
      resolve(false);
    });
  });

import { request } from 'node:https';

/** The status with which a server answers a client that shows this certificate. The server's own is not looked at. */
export function statusWithCertificate(
  url: string,
  { cert, key }: { readonly cert: string; readonly key: string },
): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, agent: false, cert, key, signal: AbortSignal.timeout(10_000) };
    const sending = request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sending.once('error', reject).end();
  });
}

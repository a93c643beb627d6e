import { request } from 'node:https';

/** A page of metrics, and the token that is shown for it; none unless given. */
export interface Scrape {
  readonly address: string;
  readonly port: number;
  readonly token?: string | undefined;
}

/** What a scraper is answered, whose connection is its own. The certificate is not looked at. */
export function scrapeMetrics({
  address,
  port,
  token,
}: Scrape): Promise<{ readonly code: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(10_000);
    const options = { rejectUnauthorized: false, agent: false, headers, signal };
    const sending = request(`https://${address}:${port}/metrics`, options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (part: string) => (body += part));
      response.once('error', reject).once('end', () => {
        resolve({ code: response.statusCode ?? 0, body });
      });
    });
    sending.once('error', reject).end();
  });
}

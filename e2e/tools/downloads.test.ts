import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checksumFor, openDownloads } from './downloads.ts';
import type { Downloads } from './downloads.ts';

const body = 'the binary';
const sum = createHash('sha256').update(body).digest('hex');

let folder = '';
let server: Server;
let asked: string[] = [];
let answers: Readonly<Record<string, RequestListener>> = {};
let downloads: Downloads;
let base = '';

const say =
  (text: string): RequestListener =>
  (_request, response) => {
    response.end(text);
  };

beforeEach(async () => {
  process.env.no_proxy = '127.0.0.1';
  folder = await mkdtemp(join(tmpdir(), 'downloads-'));
  asked = [];
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = answers[request.url ?? ''];
    if (answer !== undefined) answer(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  downloads = openDownloads({ silenceMs: 300 });
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await downloads[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const fetch = () => downloads.fetch({ url: `${base}/tool`, checksumUrl: `${base}/tool.sha256` }, join(folder, 'tool'));

describe('Downloads', () => {
  test('a file with the publisher’s checksum is kept', async () => {
    answers = { '/tool': say(body), '/tool.sha256': say(`${sum}\n`) };
    expect(await fetch()).toBe(sum);
    expect(await readFile(join(folder, 'tool'), 'utf8')).toBe(body);
  });

  test('redirects are followed', async () => {
    answers = {
      '/tool': (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      '/elsewhere': say(body),
      '/tool.sha256': say(`${sum}  tool\n`),
    };
    expect(await fetch()).toBe(sum);
  });

  test('a file with another checksum is refused and leaves nothing', async () => {
    answers = { '/tool': say('something else'), '/tool.sha256': say(`${sum}  tool\n`) };
    await expect(fetch()).rejects.toMatchObject({
      failure: 'checksum',
      message: expect.stringContaining(`publisher says ${sum}`),
    });
    expect(existsSync(join(folder, 'tool'))).toBe(false);
  });

  test('a checksum file that does not name the file is refused before the file is requested', async () => {
    answers = { '/tool': say(body), '/tool.sha256': say(`${sum}  other\n`) };
    await expect(fetch()).rejects.toMatchObject({ failure: 'checksum' });
    expect(asked).toEqual(['/tool.sha256']);
  });

  test('an absent file does not count as an absent host: the host gets further requests', async () => {
    answers = {};
    await expect(fetch()).rejects.toMatchObject({ failure: 'missing' });
    answers = { '/tool': say(body), '/tool.sha256': say(sum) };
    expect(await fetch()).toBe(sum);
  });

  test('a host that accepts connections and then is silent is given up and gets no further requests', async () => {
    answers = { '/tool.sha256': () => undefined };
    await expect(fetch()).rejects.toMatchObject({ failure: 'unreachable' });
    await expect(fetch()).rejects.toMatchObject({ failure: 'skipped' });
    expect(asked).toEqual(['/tool.sha256']);
  });

  test('a file that is truncated or stalls leaves nothing', async () => {
    answers = {
      '/tool.sha256': say(sum),
      '/tool': (_request, response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half');
      },
    };
    await expect(fetch()).rejects.toMatchObject({
      failure: 'unreachable',
      message: expect.stringContaining('broke off'),
    });
    expect(existsSync(join(folder, 'tool'))).toBe(false);
  });

  test('a host that refuses connections is given up at once', async () => {
    await new Promise((resolve) => server.close(resolve));
    const started = performance.now();
    await expect(fetch()).rejects.toMatchObject({
      failure: 'unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('checksumFor', () => {
  const other = 'a'.repeat(64);
  test.each([
    ['a lone checksum', `${sum}\n`],
    ['a list of files', `${other}  other.tar.gz\n${sum}  tool\n`],
    ['a list of binary files', `${other} *other.tar.gz\n${sum} *tool\n`],
    ['a list with paths and upper case', `${sum.toUpperCase()}  ./dist/tool\n`],
  ])('reads %s', (_what, list) => {
    expect(checksumFor('tool', list)).toBe(sum);
  });

  test('finds nothing in a list of other files or in an error page', () => {
    expect(checksumFor('tool', `${other}  other\n`)).toBeUndefined();
    expect(checksumFor('tool', '<html>Not here</html>')).toBeUndefined();
  });
});

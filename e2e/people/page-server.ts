// SPDX-License-Identifier: MPL-2.0
import { type IncomingHttpHeaders, request } from 'node:http';
import type { OwnDaemon } from './own-daemon.ts';

export interface Asked {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Whether the response so far is enough to stop reading. */
  enough?(text: string): boolean;
}

export interface Answered {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** The HTTP server of a daemon as a client other than a browser sees it, which may send any header. */
export class PageServer {
  readonly url: URL;
  readonly token: string;

  static async of(daemon: OwnDaemon): Promise<PageServer> {
    const { event } = await daemon.command('ui');
    return new PageServer(new URL(event.url as string), event.token as string);
  }

  private constructor(url: URL, token: string) {
    this.url = url;
    this.token = token;
  }

  /** Sends one request, with the token unless `headers` override it. */
  ask({ method = 'POST', path = '/api/Status', headers = {}, body = '{}', enough }: Asked): Promise<Answered> {
    const all = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json', ...headers };
    const { hostname: host, port } = this.url;
    return new Promise((resolve, reject) => {
      const asked = request({ host, port, method, path, headers: all }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
          if (enough?.(text)) response.destroy();
        });
        response.on('close', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
      });
      asked.on('error', reject);
      asked.end(method === 'POST' || method === 'PUT' ? body : undefined);
    });
  }

  /** Sends a request and parses the reply. @returns  its status, and the result or the error */
  async json(asked: Asked): Promise<{ status: number; reply: Record<string, unknown> }> {
    const { status, text } = await this.ask(asked);
    const reply = JSON.parse(text) as Record<string, unknown>;
    return { status, reply: status === 200 ? reply : (reply.error as Record<string, unknown>) };
  }

  /** Starts an upload and returns its id. */
  async drop(): Promise<string> {
    const { reply } = await this.json({ path: '/drop', body: '' });
    return reply.drop as string;
  }

  /** Uploads a file, or a folder if `path` ends with a slash. */
  put(drop: string, path: string, content = 'content', headers: Record<string, string> = {}) {
    const encoded = path.split('/').map(encodeURIComponent).join('/');
    const length = { 'content-length': String(Buffer.byteLength(content)) };
    return this.json({
      method: 'PUT',
      path: `/drop/${drop}/${encoded}`,
      body: content,
      headers: { ...length, ...headers },
    });
  }
}

// SPDX-License-Identifier: MPL-2.0

/** The lines of a body, as they come. */
export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (text + decoder.decode(value, { stream: true })).split('\n');
      text = parts.pop() ?? '';
      yield* parts;
    }
  } finally {
    // A reader that nobody waits for has nobody to fail for.
    reader.cancel().catch(() => {});
  }
}

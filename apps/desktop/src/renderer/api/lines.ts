// SPDX-License-Identifier: MPL-2.0

/** Yields the lines of a body as they arrive. */
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
    // No caller waits for the reader any more, so ignore its failure.
    reader.cancel().catch(() => {});
  }
}

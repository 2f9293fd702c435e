// sse.ts: reads a stream of server-sent events: EventSource could not send the token.

export interface StreamEvent {
  event: string;
  data: string;
}

/** Calls `heard` for each event, and `lived` whenever anything came, also a comment. Ends when the stream does. */
export async function eventsRead(body: ReadableStream<Uint8Array>, heard: (event: StreamEvent) => void, lived: () => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '', event = '', data: string[] = [];
  const lineTake = (line: string): void => {
    if (line === '') {
      if (data.length) heard({ event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    lived();
    rest += value;
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) lineTake(line);
  }
}

/** Bounds the answers of a client that reads them whole, however long: they wait for room, and end at the limit. */
import { pipeline, Readable, Transform } from 'node:stream'
import { OutboundErrors } from '../errors.ts'
import type { TakeAnswer } from '../raw-client.ts'

interface Response {
  readonly headers: Readonly<Record<string, string>>
  body?: unknown
}

interface Handler<Request, Options> {
  handle(request: Request, options?: Options): Promise<{ response: Response }>
}

/** Answers how a call says that it is about to be made: by the signal that it is given up by, which the client hands to its handler. */
export function boundAnswers<Request, Options extends { abortSignal?: unknown }>(
  { requestHandler }: { readonly requestHandler: Handler<Request, Options> },
  limit: number,
): (signal: AbortSignal, takeAnswer: TakeAnswer) => void {
  const expected = new WeakMap<object, TakeAnswer>()
  const handle = requestHandler.handle.bind(requestHandler)
  requestHandler.handle = async (request, options) => {
    const answered = await handle(request, options)
    const signal = options?.abortSignal
    const takeAnswer = typeof signal === 'object' && signal !== null ? expected.get(signal) : undefined
    answered.response.body = await bounded(answered.response, limit, takeAnswer)
    return answered
  }
  return (signal, takeAnswer) => void expected.set(signal, takeAnswer)
}

async function bounded({ body, headers }: Response, limit: number, takeAnswer?: TakeAnswer): Promise<unknown> {
  if (!(body instanceof Readable)) return body
  // For good: while it waits nobody else listens.
  body.on('error', () => undefined)
  try {
    const said = Number(headers['content-length'] ?? limit)
    if (said > limit) throw OutboundErrors.ANSWER_TOO_BIG({ limit })
    await takeAnswer?.(Number.isSafeInteger(said) && said >= 0 ? said : limit)
  } catch (error) {
    body.destroy()
    throw error
  }
  return pipeline(body, counted(limit), () => undefined)
}

function counted(limit: number): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength
      if (bytes > limit) done(OutboundErrors.ANSWER_TOO_BIG({ limit }))
      else done(null, chunk)
    },
  })
}

/** Services outside in a rehearsal: nothing leaves it. Each call is noted, and answered as the case says. */
import type {
  NodeOutbound,
  OutboundClient,
  OutboundKind,
  OutboundKinds,
} from '../engine/rulechain/capabilities/outbound.ts'
import { stringifyJson, type JsonObject, type JsonValue } from '../model/json.ts'
import type { OutsideText } from './cases.ts'
import { WorkbenchErrors } from './errors.ts'

export type OutsideAnswers = Readonly<Record<string, OutsideText>>
type Answers = { readonly [Kind in OutboundKind]: (answer: OutsideText) => OutboundKinds[Kind]['answer'] }

const REQUEST_ID = '00000000-0000-4000-a000-000000000001'

const ANSWERS: Answers = {
  http: ({ status, body }) => ({ status, reason: 'OK', headers: [], body: textOf(body) }),
  mqtt: () => undefined,
  sqs: () => ({ messageId: REQUEST_ID, requestId: REQUEST_ID }),
  sns: () => ({ messageId: REQUEST_ID, requestId: REQUEST_ID }),
  lambda: ({ body }) => ({ requestId: REQUEST_ID, payload: textOf(body), functionError: undefined }),
  kafka: () => ({ topic: 'rehearsal', partition: 0, offset: '0' }),
  rabbitmq: () => undefined,
  twilio: () => undefined,
  smpp: () => undefined,
  pubsub: () => ({ messageId: REQUEST_ID }),
  smtp: () => undefined,
}

const NOTHING_SAID: OutsideText = { status: 200 }

export function outsideOf(answers: OutsideAnswers, note: (kind: string, call: JsonObject) => void): NodeOutbound {
  return {
    forceAck: false,
    serviceId: 'rehearsal',
    open: <Kind extends OutboundKind>(
      kind: Kind,
    ): OutboundClient<OutboundKinds[Kind]['call'], OutboundKinds[Kind]['answer']> => {
      const answer = answers[kind] ?? NOTHING_SAID
      return {
        ready: () => Promise.resolve(),
        call: async (call) => {
          note(kind, noted(call))
          if (answer.fails !== undefined) throw WorkbenchErrors.OUTSIDE_FAILS({ reason: answer.fails })
          return ANSWERS[kind](answer)
        },
        close: () => Promise.resolve(),
      }
    },
  }
}

/** What a model answers: nothing, where nobody says it. */
export function askedModel({ ai = NOTHING_SAID }: OutsideAnswers): string {
  if (ai.fails !== undefined) throw WorkbenchErrors.OUTSIDE_FAILS({ reason: ai.fails })
  return ai.body === undefined ? '{}' : textOf(ai.body)
}

/** Plain texts and numbers of a call; what is nested is shown as it is. */
function noted(call: object): JsonObject {
  return JSON.parse(JSON.stringify(call)) as JsonObject
}

/** A text is the body as it is. */
function textOf(body: JsonValue | undefined): string {
  if (body === undefined) return ''
  return typeof body === 'string' ? body : stringifyJson(body)
}

/** Services outside that note what they are called with, and answer what a test says. */
import type {
  NodeOutbound,
  OutboundClient,
  OutboundKind,
  OutboundKinds,
  OutboundLimits,
} from '../../engine/rulechain/capabilities/outbound.ts'

export interface OpenedClient {
  readonly kind: OutboundKind
  readonly settings: object
  readonly limits: OutboundLimits | undefined
  readonly calls: { readonly call: object; readonly bytes: number }[]
  isReady: boolean
  isClosed: boolean
}

type Answers = { [Kind in OutboundKind]?: (call: OutboundKinds[Kind]['call']) => OutboundKinds[Kind]['answer'] }

export class FakeOutbound implements NodeOutbound {
  forceAck = false
  readonly serviceId = 'test-process'
  readonly opened: OpenedClient[] = []
  /** By kind; one that is not said refuses. A thrown error is the service's. */
  readonly answers: Answers = {}
  /** Of `ready`. */
  failure: Error | undefined

  open<Kind extends OutboundKind>(
    kind: Kind,
    settings: OutboundKinds[Kind]['settings'],
    limits?: OutboundLimits,
  ): OutboundClient<OutboundKinds[Kind]['call'], OutboundKinds[Kind]['answer']> {
    const client: OpenedClient = { kind, settings, limits, calls: [], isReady: false, isClosed: false }
    this.opened.push(client)
    return {
      ready: async () => {
        if (this.failure !== undefined) throw this.failure
        client.isReady = true
      },
      call: async (call, bytes) => {
        client.calls.push({ call, bytes })
        const answer = this.answers[kind]
        if (answer === undefined) throw new Error(`the test has no answer of ${kind}`)
        return answer(call)
      },
      close: async () => void (client.isClosed = true),
    }
  }

  /** What the only client was called with. */
  get calls(): readonly object[] {
    return this.opened.flatMap(({ calls }) => calls.map(({ call }) => call))
  }
}

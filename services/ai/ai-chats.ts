/** Questions to models, under the outbound policy. */
import assert from 'node:assert/strict'
import type { AiQuestion, NodeAi, NodeAiSettings } from '../../engine/rulechain/capabilities/ai.ts'
import type { NodeIdentity } from '../../engine/rulechain/capabilities.ts'
import type { HttpAnswer, HttpCall, OutboundClient } from '../../engine/rulechain/capabilities/outbound.ts'
import type { Clock } from '../../model/clock.ts'
import { errorText } from '../../model/errors.ts'
import type { JsonObject } from '../../model/json.ts'
import { googleTokens } from '../outbound/clients/google-token.ts'
import { hiddenSecrets } from '../outbound/hidden-secrets.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { SharedConnection } from '../outbound/shared-connection.ts'
import type { AiFiles } from './ai-files.ts'
import type { AiModels, OpenedModel } from './ai-models.ts'
import { aiConfigurationOf, aiSecretsOf, maskedMember, type AiConfiguration } from './configuration.ts'
import { AiErrors } from './errors.ts'
import { answerOf, refusalOf, requestOf, VERTEX_AUDIENCE, type AiRequest } from './protocols.ts'

const MAX_ANSWER_BYTES = 2 ** 20
/** As clients of the reference do where a model says nothing. */
const RETRIES = 2
const FIRST_PAUSE_MS = 500
const DEFAULT_SECONDS = 60
/** Busy, or away for a moment. */
const TRY_AGAIN: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 529])

export type AiLimits = Pick<NodeAiSettings, 'timeoutMs' | 'isAwaited'>

export interface AiChatsParts {
  readonly models: Pick<AiModels, 'open'>
  readonly files: AiFiles
  readonly outbound: Pick<Outbound, 'ofNode'>
  readonly clock: Clock
}

export class AiChats {
  private readonly parts: AiChatsParts

  constructor(parts: AiChatsParts) {
    this.parts = parts
  }

  /** What a node sees of it. */
  readonly ofNode = ({ tenantId }: Pick<NodeIdentity, 'tenantId'>): NodeAi => ({
    open: async (modelId, { fileIds, ...limits }) => {
      const { models, files } = this.parts
      const open = () => models.open(tenantId, modelId)
      await files.check(tenantId, fileIds)
      const first = await open()
      const model = new FollowedModel(open, (configuration) => this.connect(tenantId, configuration, limits), first)
      const asked = { ids: fileIds, waitMs: limits.timeoutMs }
      const ask = (question: AiQuestion) =>
        files.with(tenantId, asked, (read) => model.ask({ ...question, files: read }))
      return { ask, close: () => model.close() }
    },
  })

  /** One question to a model that need not be stored: what goes wrong with it is told as an answer. Throws `INVALID`, `SECRET_MASKED`. */
  async askOnce(tenantId: string, configuration: JsonObject, question: AiQuestion): Promise<JsonObject> {
    const read = aiConfigurationOf(configuration)
    const masked = maskedMember(configuration)
    if (masked !== undefined) throw AiErrors.SECRET_MASKED({ member: `chatModelConfig.${masked}` })
    const timeoutMs = (read.timeoutSeconds ?? DEFAULT_SECONDS) * 1000
    try {
      const generatedContent = await this.ask(tenantId, read, question, { timeoutMs, isAwaited: false })
      return { status: 'SUCCESS', generatedContent }
    } catch (error) {
      return { status: 'FAILURE', errorDetails: errorText(error) }
    }
  }

  private async ask(
    tenantId: string,
    configuration: AiConfiguration,
    question: AiQuestion,
    limits: AiLimits,
  ): Promise<string> {
    const connection = this.connect(tenantId, configuration, limits)
    try {
      return await connection.ask(question)
    } finally {
      await connection.close()
    }
  }

  private connect(tenantId: string, configuration: AiConfiguration, limits: AiLimits): AiConnection {
    const { outbound, clock } = this.parts
    const secrets = aiSecretsOf(configuration as JsonObject)
    const { timeoutMs, isAwaited } = limits
    const client = outbound
      .ofNode({ tenantId, secrets })
      .open('http', { maxAnswerBytes: MAX_ANSWER_BYTES }, { timeoutMs, isAwaited })
    return new AiConnection(configuration, client, clock, timeoutMs)
  }
}

class AiConnection {
  private readonly configuration: AiConfiguration
  private readonly client: OutboundClient<HttpCall, HttpAnswer>
  private readonly clock: Clock
  private readonly timeoutMs: number
  /** Providers quote the key that they do not take. */
  private readonly hide: (text: string) => string
  private googleToken: (() => string) | undefined

  constructor(
    configuration: AiConfiguration,
    client: OutboundClient<HttpCall, HttpAnswer>,
    clock: Clock,
    timeoutMs: number,
  ) {
    this.configuration = configuration
    this.client = client
    this.clock = clock
    this.timeoutMs = timeoutMs
    this.hide = hiddenSecrets({}, aiSecretsOf(configuration as JsonObject))
  }

  async ask(question: AiRequest): Promise<string> {
    const { provider, maxRetries } = this.configuration
    const retries = maxRetries ?? RETRIES
    const until = this.clock.monotonic() + this.timeoutMs
    for (let tried = 0; ; tried++) {
      const proofs = { googleToken: () => this.tokenOfGoogle(), now: () => this.clock.now() }
      const call = requestOf(this.configuration, question, proofs)
      const { status, body } = await this.client.call(call, Buffer.byteLength(call.body ?? ''))
      if (status === 200) {
        const text = answerOf(provider, body)
        if (text === undefined) throw AiErrors.ANSWER_MALFORMED({ provider })
        return text
      }
      const pauseMs = FIRST_PAUSE_MS * 2 ** tried
      const isTriedAgain = TRY_AGAIN.has(status) && tried < retries && this.clock.monotonic() + pauseMs < until
      if (!isTriedAgain) throw AiErrors.REFUSED({ provider, status, reason: this.hide(refusalOf(body)) })
      await new Promise<void>((resolve) => void this.clock.after(pauseMs, resolve))
    }
  }

  close(): Promise<void> {
    return this.client.close()
  }

  private tokenOfGoogle(): string {
    const { provider, providerConfig } = this.configuration
    assert(provider === 'GOOGLE_VERTEX_AI_GEMINI', 'no other provider is asked with a token of Google')
    this.googleToken ??= googleTokens(providerConfig.serviceAccountKey, VERTEX_AUDIENCE, this.clock)
    return this.googleToken()
  }
}

/** Asks the model as it is now: a change of it, of its keys too, is in force with the next question. */
class FollowedModel {
  private readonly open: () => Promise<OpenedModel>
  private readonly connect: (configuration: AiConfiguration) => AiConnection
  private version: number
  private connection: SharedConnection<AiConnection>

  constructor(
    open: () => Promise<OpenedModel>,
    connect: (configuration: AiConfiguration) => AiConnection,
    first: OpenedModel,
  ) {
    this.open = open
    this.connect = connect
    this.version = first.version
    this.connection = new SharedConnection(connect(first.configuration))
  }

  async ask(question: AiRequest): Promise<string> {
    const { version, configuration } = await this.open()
    if (version > this.version) {
      const former = this.connection
      this.connection = new SharedConnection(this.connect(configuration))
      // Where it can not be made the next question tries again.
      this.version = version
      await former.close()
    }
    return this.connection.use((connection) => connection.ask(question))
  }

  close(): Promise<void> {
    return this.connection.close()
  }
}

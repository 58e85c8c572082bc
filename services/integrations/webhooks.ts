/** Webhooks by their keys: any process takes what is sent to one, and whoever sent it hears when it is stored. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { MillraceError } from '../../model/errors.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import { IntegrationErrors } from './errors.ts'
import type { FigureBook } from './figures.ts'
import type { Intake, OpenedInlet } from './intake.ts'
import type { Integrations } from './integrations.ts'
import { webhook } from './kinds/http.ts'

export interface WebhookParts {
  readonly integrations: Pick<Integrations, 'findByKey' | 'open'>
  readonly intake: Pick<Intake, 'open'>
  readonly figures: FigureBook
  readonly feed: Pick<ChangeFeed, 'listenToAll' | 'onGap'>
}

interface Webhook {
  readonly id: string
  readonly inlet: OpenedInlet
  readonly secret: string | undefined
}

export interface WebhookRequest {
  readonly key: string
  /** What the sender shows; '' for nothing. */
  readonly secret: string
  readonly payload: Buffer
  readonly metadata: Readonly<Record<string, string>>
}

const KEY = /^[A-Za-z0-9]{40}$/
const MAX_HELD = 1000
/** Of keys that are looked up: whoever guesses gets no more of the store. */
const MAX_LOOKUPS = 32

export class Webhooks {
  private readonly parts: WebhookParts
  private readonly held = new Map<string, Promise<Webhook | undefined>>()
  private lookups = 0
  private readonly stops: readonly (() => void)[]

  constructor(parts: WebhookParts) {
    this.parts = parts
    this.stops = [
      parts.feed.listenToAll(['integration-changed', 'entity-deleted'], ({ kind, entity }) => {
        // What went with its tenant.
        if (entity.entityType === 'TENANT') {
          parts.figures.forgetTenant(entity.id)
          return this.forget(() => true)
        }
        if (entity.entityType !== 'INTEGRATION') return
        this.forget((held) => held?.id === entity.id)
        if (kind === 'entity-deleted') parts.figures.forget(entity.id)
      }),
      parts.feed.onGap(() => this.forget(() => true)),
    ]
  }

  /**
   * Resolves when all that the request said is durable. Throws `UNKNOWN`, `SECRET_WRONG`, `TENANT_FULL` (429), `FULL` (503), what the converter
   * failed for, and what the link refuses.
   */
  async take({ key, secret, payload, metadata }: WebhookRequest): Promise<void> {
    const found = KEY.test(key) ? await this.find(key) : undefined
    if (found === undefined) throw IntegrationErrors.UNKNOWN()
    if (found.secret !== undefined && !isSame(found.secret, secret)) throw IntegrationErrors.SECRET_WRONG()
    await new Promise<void>((resolve, reject) => {
      const told = (failure: MillraceError | undefined): void => {
        if (failure === undefined) resolve()
        else reject(failure)
      }
      const refusal = found.inlet.offer({ payload, metadata }, { done: told, again: told })
      if (refusal !== undefined) reject(refusal)
    })
  }

  close(): void {
    for (const stop of this.stops) stop()
    this.forget(() => true)
  }

  private find(key: string): Promise<Webhook | undefined> {
    const held = this.held.get(key)
    if (held !== undefined) return held
    if (this.lookups >= MAX_LOOKUPS) return Promise.reject(IntegrationErrors.FULL())
    this.lookups++
    const found = this.open(key).finally(() => this.lookups--)
    this.held.set(key, found)
    found.then(
      (webhookFound) => {
        // Nobody's: whoever asks again may find that it was made meanwhile.
        if (webhookFound === undefined && this.held.get(key) === found) this.held.delete(key)
        // Only now: keys that are guessed put nobody's out.
        const [oldest] = this.held.keys()
        if (this.held.size > MAX_HELD + MAX_LOOKUPS && oldest !== undefined) this.drop(oldest)
      },
      () => {
        if (this.held.get(key) === found) this.held.delete(key)
      },
    )
    return found
  }

  private async open(key: string): Promise<Webhook | undefined> {
    const integration = await this.parts.integrations.findByKey(key)
    if (integration?.enabled !== true || integration.type !== 'HTTP') return undefined
    const { secret } = webhook.parse(this.parts.integrations.open(integration).json)
    const inlet = await this.parts.intake.open(integration)
    this.parts.figures.of(integration).is('RUNNING')
    return { id: integration.id, inlet, secret: secret ?? undefined }
  }

  /** Those that are being looked up too, once they are known: what they find may be what was before. */
  private forget(isMeant: (found: Webhook | undefined) => boolean): void {
    for (const [key, held] of this.held) {
      void held.then(
        (found) => {
          if (isMeant(found)) this.dropThis(key, held)
        },
        () => undefined,
      )
    }
  }

  private drop(key: string): void {
    const held = this.held.get(key)
    if (held !== undefined) this.dropThis(key, held)
  }

  private dropThis(key: string, held: Promise<Webhook | undefined>): void {
    if (this.held.get(key) === held) this.held.delete(key)
    void held.then((found) => found?.inlet.close()).catch(() => undefined)
  }
}

function isSame(expected: string, shown: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(expected), hash(shown))
}

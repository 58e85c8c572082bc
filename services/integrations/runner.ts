/**
 * Runs the integrations that collect by themselves: each in the process that owns its partition, begun anew when it changes. Two processes
 * may run one for a moment, when the owner changes: what both bring is stored twice under the same keys and times, or is another point of no time.
 */
import type { SecureContext } from 'node:tls'
import type { Clock, TimerHandle } from '../../model/clock.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText } from '../../model/errors.ts'
import { parseJson, stringifyJson } from '../../model/json.ts'
import type { PartitionOwners } from '../../engine/device/partition-owners.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { AttributeService } from '../attributes/attribute-service.ts'
import type { Integration } from '../entities/integration.ts'
import type { AddressGuard } from '../outbound/address-guard.ts'
import type { Report } from '../changes/outbox.ts'
import type { Inlet, Positions, Source } from './define-integration.ts'
import type { FigureBook } from './figures.ts'
import type { Integrations } from './integrations.ts'
import type { SourceShares } from './source-shares.ts'

/** Of one integration. */
interface ClosableInlet extends Inlet {
  close(): void
}

export interface RunnerParts {
  readonly integrations: Pick<Integrations, 'find' | 'enabled' | 'open'>
  readonly intake: { open(integration: Integration): Promise<ClosableInlet> }
  readonly figures: FigureBook
  readonly attributes: Pick<AttributeService, 'find' | 'save'>
  readonly owners: Pick<PartitionOwners, 'partitionOf' | 'owns' | 'onChange'>
  readonly feed: Pick<ChangeFeed, 'listenToAll' | 'onGap' | 'settled'>
  readonly guard: AddressGuard
  readonly shares: SourceShares
  /** Of ports whose senders speak TLS. */
  readonly secureContext?: (() => SecureContext) | undefined
  /** Of files that are read. */
  readonly root: string | undefined
  readonly clock: Clock
  readonly report: Report
}

interface Running {
  readonly version: number
  readonly inlet: ClosableInlet
  readonly source: Source
}

const RETRY_MS = 10_000
const POSITION = 'position.'

export class IntegrationRunner {
  private readonly parts: RunnerParts
  private readonly running = new Map<string, Running>()
  /** The last step of each that is under way. */
  private readonly underWay = new Map<string, Promise<void>>()
  private readonly retries = new Map<string, TimerHandle>()
  private stops: readonly (() => void)[] = []
  private retry: TimerHandle | undefined
  private isClosed = false

  constructor(parts: RunnerParts) {
    this.parts = parts
  }

  /** Resolves when all that are there were begun. */
  async start(): Promise<void> {
    const { feed, owners, figures } = this.parts
    this.stops = [
      feed.listenToAll(['integration-changed', 'entity-deleted'], (change) => {
        // What went with its tenant.
        if (change.entity.entityType === 'TENANT') return void this.followAll()
        if (change.entity.entityType !== 'INTEGRATION') return
        void this.follow(change.entity.id)
        if (change.kind === 'entity-deleted') figures.forget(change.entity.id)
      }),
      feed.onGap(() => void this.followAll()),
      owners.onChange(() => void this.followAll()),
    ]
    await feed.settled()
    await this.followAll()
  }

  /** Resolves when what is known of the integration by now is in force. */
  async settled(id: string): Promise<void> {
    await this.underWay.get(id)
  }

  async close(): Promise<void> {
    this.isClosed = true
    for (const stop of this.stops) stop()
    this.retry?.cancel()
    for (const timer of this.retries.values()) timer.cancel()
    await Promise.all(this.underWay.values())
    await Promise.all([...this.running.keys()].map((id) => this.stop(id)))
  }

  private async followAll(): Promise<void> {
    if (this.isClosed) return
    this.retry?.cancel()
    try {
      const enabled = await this.parts.integrations.enabled()
      const ids = new Set([...this.running.keys(), ...enabled.map(({ id }) => id)])
      await Promise.all([...ids].map((id) => this.follow(id)))
    } catch (error) {
      this.parts.report('Integrations could not be read; trying again', { error: errorText(error) })
      if (!this.isClosed) this.retry = this.parts.clock.after(RETRY_MS, () => void this.followAll())
    }
  }

  /** One step of an integration after the other. */
  private follow(id: string): Promise<void> {
    const next = (this.underWay.get(id) ?? Promise.resolve())
      .then(() => this.apply(id))
      .catch((error: unknown) => {
        this.parts.report('An integration could not be begun; trying again', { id, error: errorText(error) })
        this.followLater(id)
      })
      .finally(() => {
        if (this.underWay.get(id) === next) this.underWay.delete(id)
      })
    this.underWay.set(id, next)
    return next
  }

  private followLater(id: string): void {
    if (this.isClosed) return
    this.retries.get(id)?.cancel()
    this.retries.set(
      id,
      this.parts.clock.after(RETRY_MS, () => {
        this.retries.delete(id)
        void this.follow(id)
      }),
    )
  }

  private async apply(id: string): Promise<void> {
    if (this.isClosed) return
    const { integrations, owners } = this.parts
    const integration = await integrations.find(id)
    const isWanted = integration?.enabled === true && owners.owns(owners.partitionOf(id))
    const present = this.running.get(id)
    if (present !== undefined && isWanted && present.version === integration.version) return
    if (present !== undefined) await this.stop(id, integration)
    if (isWanted && !this.isClosed) await this.begin(integration, present !== undefined)
  }

  private async begin(integration: Integration, isChanged: boolean): Promise<void> {
    const { id, tenantId, version } = integration
    const { intake, integrations, guard, clock, shares, root, secureContext } = this.parts
    const figures = this.parts.figures.of(integration)
    const step = isChanged ? 'UPDATED' : 'STARTED'
    let inlet: ClosableInlet | undefined
    try {
      const { open } = integrations.open(integration)
      // Others come to it, in whichever process they reach (`webhooks.ts`).
      if (open === undefined) return figures.is('RUNNING')
      inlet = await intake.open(integration)
      figures.is('CONNECTING')
      const source = await open({
        ...{ id, tenantId, inlet, guard, clock, shares, secureContext, root, positions: this.positionsOf(integration) },
        progress: (json) => figures.progress(json),
        connected: (isConnected, reason) => figures.is(isConnected ? 'RUNNING' : 'CONNECTING', reason),
      })
      this.running.set(id, { version, inlet, source })
      figures.stepped(step)
    } catch (error) {
      inlet?.close()
      const reason = error instanceof Error ? error : new Error(errorText(error))
      figures.is('FAILED', reason)
      figures.stepped(step, reason)
      this.followLater(id)
    }
  }

  private async stop(id: string, integration?: Integration): Promise<void> {
    const present = this.running.get(id)
    this.running.delete(id)
    await present?.source.close()
    present?.inlet.close()
    if (integration === undefined) return
    const figures = this.parts.figures.of(integration)
    figures.is('STOPPED')
    if (!integration.enabled) figures.stepped('STOPPED')
  }

  private positionsOf({ id, tenantId }: Integration): Positions {
    const { attributes } = this.parts
    const entity = entityId('INTEGRATION', id)
    return {
      read: async (name) => {
        const [row] = (await attributes.find(entity, 'SERVER_SCOPE', [`${POSITION}${name}`])).value
        return row?.type === 'JSON' ? parseJson(row.value) : undefined
      },
      write: (name, value) =>
        attributes.save({
          ...{ tenantId, entity, isOwn: true, scope: 'SERVER_SCOPE', sequence: 0 },
          entries: [{ key: `${POSITION}${name}`, type: 'JSON', value: stringifyJson(value) }],
          ...{ store: true, notify: true, notifyDevice: false },
        }),
    }
  }
}

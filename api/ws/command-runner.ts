/** Carries out one client's commands; what goes wrong with one is answered under its id and harms no other. */
import type { Clock } from '../../model/clock.ts'
import type { EntityId } from '../../model/entity-id.ts'
import { isMillraceError, type MillraceError } from '../../model/errors.ts'
import type { Log } from '../../model/log.ts'
import type { Principal } from '../../model/principal.ts'
import type { Operation } from '../../services/access/permissions.ts'
import type { Command, CommandContext, LiveCommands } from './define-command.ts'
import { CommandErrors } from './errors.ts'
import { FollowedEntities } from './followed-entities.ts'
import { BAD_REQUEST, errorFrame, INTERNAL_ERROR } from './frames.ts'
import type { ReadServices } from './read-services.ts'
import type { SessionReads } from './read-turns.ts'
import type { SubscriptionHost } from './subscription.ts'

export interface CommandWorld {
  readonly services: ReadServices
  readonly clock: Clock
  readonly log: Log
}

export class CommandRunner {
  private readonly context: CommandContext

  constructor(
    { services, clock, log }: CommandWorld,
    principal: Principal,
    host: SubscriptionHost,
    live: LiveCommands,
    reads: SessionReads,
  ) {
    const { telemetry } = services
    const inTurns: ReadServices = {
      ...services,
      telemetry: {
        history: (entity, request) => reads.run(() => telemetry.history(entity, request)),
        latest: (entity, keys) => telemetry.latest(entity, keys),
      },
    }
    const fail = (cmdId: number, error: unknown): void => {
      if (isMillraceError(error)) return host.send(errorFrame(cmdId, codeOf(error), error.message))
      log.error('WebSocket command failed', { error })
      host.send(errorFrame(cmdId, INTERNAL_ERROR, 'Internal Server error!'))
    }
    const followed = new FollowedEntities(host.feed)
    const checkAccess = (entity: EntityId, operation: Operation) => check(services, principal, entity, operation)
    this.context = { principal, services: inTurns, clock, log, host, live, followed, reads, checkAccess, fail }
  }

  /** Begins at once, in the caller's turn, so that commands take effect in their order. Never rejects. */
  async run(command: Command): Promise<void> {
    try {
      if (command.cmdId < 0) throw CommandErrors.ID_NEGATIVE()
      await command.run(this.context)
    } catch (error) {
      this.context.fail(command.cmdId, error)
    }
  }
}

async function check(
  { access }: ReadServices,
  principal: Principal,
  entity: EntityId,
  operation: Operation,
): Promise<void> {
  try {
    await access.check(principal, operation, entity)
  } catch (error) {
    if (!isMillraceError(error) || (error.kind !== 'denied' && error.kind !== 'invalid')) throw error
    throw operation === 'READ_ATTRIBUTES'
      ? CommandErrors.ATTRIBUTES_DENIED(undefined, error)
      : CommandErrors.FETCH_DENIED(undefined, error)
  }
}

/** What the reference finds out while it works is its internal error, what it checks first a bad request. */
const INTERNAL_CODES: ReadonlySet<string> = new Set([
  'ws.FETCH_DENIED',
  'ws.ATTRIBUTES_DENIED',
  'ws.UUID_INVALID',
  'ws.ENTITY_TYPE_UNKNOWN',
  'ws.AGGREGATION_UNKNOWN',
  'ws.ORIGINATOR_MISSING',
])

function codeOf(error: MillraceError): number {
  const isInternal = INTERNAL_CODES.has(error.code) || error.code.startsWith('query.')
  return error.kind !== 'invalid' || isInternal ? INTERNAL_ERROR : BAD_REQUEST
}

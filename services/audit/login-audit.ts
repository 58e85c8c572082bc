/** Log-ins, log-outs and lock-outs in the audit log of the user's tenant. Who is no user leaves no row: there is no log that it belongs to. */
import { lruMap } from '../../model/lru-map.ts'
import type { Clock } from '../../model/clock.ts'
import type { User } from '../../model/entities.ts'
import { entityId } from '../../model/entity-id.ts'
import { errorText, isMillraceError } from '../../model/errors.ts'
import type { Principal } from '../../model/principal.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Report } from '../changes/outbox.ts'
import type { AuditedAction, AuditLog } from './audit-log.ts'
import { programOf } from './user-agent.ts'

/** A lock-out is told once in this time: whoever goes on guessing fills no log. */
const LOCKOUT_TOLD_MS = 60_000
const MAX_LOCKOUTS = 10_000
const LOCKOUTS: ReadonlySet<string> = new Set(['auth.LOCKED', 'auth.TOO_MANY_FAILURES'])

/** Who asks to be let in. */
export interface LoginClient {
  readonly address: string
  /** As the header says it; empty where there is none. */
  readonly userAgent: string
}

export class LoginAudit {
  private readonly entities: EntityStore
  private readonly audit: AuditLog
  private readonly clock: Clock
  private readonly report: Report
  /** When a lock-out of user and address was told, Unix ms. */
  private readonly lockouts = lruMap<number>(MAX_LOCKOUTS)

  constructor(entities: EntityStore, audit: AuditLog, clock: Clock, report: Report) {
    this.entities = entities
    this.audit = audit
    this.clock = clock
    this.report = report
  }

  /** Never rejects: a log-in does not fail because it cannot be told. */
  async loggedIn(email: string, client: LoginClient): Promise<void> {
    await this.write('LOGIN', client.userAgent, () => this.principalOf(email, client.address))
  }

  async loggedOut(principal: Principal, userAgent: string): Promise<void> {
    await this.write('LOGOUT', userAgent, () => Promise.resolve(principal))
  }

  /** Never rejects. Not to be waited for: how long it takes shows whether there is such a user. */
  async refused(email: string, { address, userAgent }: LoginClient, reason: unknown): Promise<void> {
    if (!isMillraceError(reason)) return
    const isLockout = LOCKOUTS.has(reason.code)
    // Too busy to look is no answer to the one who asked.
    if (!isLockout && reason.status !== 401) return
    if (isLockout && this.wasTold(`${email} ${address}`)) return
    try {
      const principal = await this.principalOf(email, address)
      if (principal === undefined) return
      const action = actionOf(isLockout ? 'LOCKOUT' : 'LOGIN', principal, userAgent)
      await this.audit.failed(principal, action, reason)
    } catch (error) {
      this.report('A refused log-in is not in the audit log', { error: errorText(error) })
    }
  }

  private wasTold(key: string): boolean {
    const now = this.clock.now()
    const told = this.lockouts.get(key)
    if (told !== undefined && told + LOCKOUT_TOLD_MS > now) return true
    this.lockouts.set(key, now)
    return false
  }

  private async write(
    actionType: 'LOGIN' | 'LOGOUT',
    userAgent: string,
    principalOf: () => Promise<Principal | undefined>,
  ): Promise<void> {
    try {
      const principal = await principalOf()
      if (principal === undefined) return
      await this.entities.write([await this.audit.succeeded(principal, actionOf(actionType, principal, userAgent))])
    } catch (error) {
      this.report('A log-in or log-out is not in the audit log', { error: errorText(error) })
    }
  }

  private async principalOf(email: string, clientAddress: string): Promise<Principal | undefined> {
    const user = await this.entities.users.findByEmail(email)
    return user && { ...identityOf(user), clientAddress }
  }
}

function identityOf({ id, email, authority, tenantId, customerId, firstName, lastName }: User): Principal {
  return { userId: id, email, authority, tenantId, customerId, firstName, lastName }
}

function actionOf(actionType: 'LOGIN' | 'LOGOUT' | 'LOCKOUT', principal: Principal, userAgent: string): AuditedAction {
  return {
    actionType,
    entity: entityId('USER', principal.userId),
    entityName: principal.email,
    customerId: principal.customerId,
    actionData: JSON.stringify({ clientAddress: principal.clientAddress ?? 'Unknown', ...programOf(userAgent) }),
  }
}

/**
 * Claiming: a device offers itself to whoever knows a secret, and a customer's user takes it. A wrong secret spends the offer, so that
 * nobody tries secrets one after the other. What the tenant wrote stays: of a user it hears a few wrong ones, and then none for a while. Source: `device-api.md` 9.4, `rest-api.md` 5.5.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock, Random } from '../../model/clock.ts'
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, parseJson } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Attribute } from '../../model/value.ts'
import type { ClaimOffer, DeviceIdentity } from '../../engine/device/gateway.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import { attemptedOn } from '../audit/audit-log.ts'
import type { Changes } from '../changes/changes.ts'
import { customers } from '../entities/customer.ts'
import { devices, type Device } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import type { Joined } from '../entities/service-parts.ts'
import { retried } from '../entities/retried.ts'
import { ServiceErrors } from '../errors.ts'
import type { DeviceAttributes } from './device-attributes.ts'
import { OnboardingErrors } from './errors.ts'
import { WrongAttempts, type AttemptFigures, type AttemptLimits } from './wrong-attempts.ts'

export interface ClaimSettings {
  /** Whether devices may be claimed that do not have the server attribute `claimingAllowed`. */
  readonly isAllowedByDefault: boolean
  /** Of offers that do not say how long they count. */
  readonly durationMs: number
}

export const DEFAULT_CLAIM_SETTINGS: ClaimSettings = { isAllowedByDefault: true, durationMs: 86_400_000 }

export type ClaimResult =
  | { readonly response: 'SUCCESS'; readonly device: Device }
  /** `CLAIMED`: it is somebody's. `FAILURE`: there is no such offer. */
  | { readonly response: 'CLAIMED' | 'FAILURE'; readonly isWrongSecret?: true }

export interface DeviceClaimsParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly attributes: DeviceAttributes
  readonly changes: Changes
  readonly clock: Clock
  readonly random: Random
  readonly settings: ClaimSettings
}

const ALLOWED = 'claimingAllowed'
const DATA = 'claimingData'
const LABEL = 'Device'
/** Longer ones count so long: nobody means more. */
const LONGEST_OFFER_MS = 10 * 365 * 86_400_000

/** Of a user and a device. */
const GUESSES: AttemptLimits = {
  ...{ wrongPerAddress: 10, windowMs: 600_000 },
  ...{ atOnce: 1_000, atOncePerAddress: 10, waiting: 0, waitingPerAddress: 0, waitMs: 0 },
}

/** What a device may be claimed with. */
interface Standing {
  readonly secretHash: string
  readonly expiresAt: number
  /** Where the device offered it itself. */
  readonly claimId: string | undefined
}

export class DeviceClaims {
  private readonly parts: DeviceClaimsParts
  private readonly guesses: WrongAttempts

  constructor(parts: DeviceClaimsParts) {
    this.parts = parts
    this.guesses = new WrongAttempts(parts.clock, GUESSES)
  }

  figures(): AttemptFigures {
    return this.guesses.figures()
  }

  /** Of a device that has a customer, or may not be claimed, the offer is dropped; so is a second one while the first counts. */
  async offer({ deviceId, tenantId }: DeviceIdentity, { secretKey, durationMs }: ClaimOffer): Promise<void> {
    const { entities, declared, clock, random, settings } = this.parts
    const device = await declared.of(devices).find(tenantId, deviceId)
    if (device === undefined || device.customerId !== null || !(await this.mayBeClaimed(deviceId))) return
    const createdTime = clock.now()
    const counts = Math.min(durationMs > 0 ? durationMs : settings.durationMs, LONGEST_OFFER_MS)
    const claim = {
      ...{ id: random.uuid(), createdTime, tenantId, deviceId },
      secretHash: hashOf(secretKey),
      expiresAt: createdTime + Math.ceil(counts),
    }
    try {
      await entities.write(entities.deviceClaims.offer(claim))
    } catch (error) {
      if (!isMillraceError(error) || error.code !== 'claims.OFFER_STANDS') throw error
    }
  }

  /** For the user's customer. Throws `DEVICE_UNKNOWN` where the tenant has no device of that name; `TOO_MANY_WRONG`, `BUSY`. */
  async claimByUser(principal: Principal, name: string, secretKey: string): Promise<ClaimResult> {
    const { id } = await this.deviceNamed(principal, name)
    const tried = () => attemptedOn('ASSIGNED_TO_CUSTOMER', entityId('DEVICE', id))
    const claim = () => retried(LABEL, () => this.claim(principal, id, secretKey))
    const result = await this.parts.changes.attempt(principal, tried, () =>
      this.guesses.run(`${principal.userId} ${id}`, claim, isWrongSecret),
    )
    if (result.response !== 'SUCCESS') await this.parts.changes.failed(principal, tried(), REASONS[result.response])
    return result
  }

  /** Gives the device back; one that nobody has stays so. A customer's user gives back what is the customer's. */
  async reclaimByUser(principal: Principal, name: string): Promise<void> {
    const { id } = await this.deviceNamed(principal, name)
    const tried = () => attemptedOn('UNASSIGNED_FROM_CUSTOMER', entityId('DEVICE', id))
    await this.parts.changes.attempt(principal, tried, () => retried(LABEL, () => this.reclaim(principal, id)))
  }

  private async claim(principal: Principal, deviceId: string, secretKey: string): Promise<ClaimResult> {
    const { entities, declared, clock } = this.parts
    const { tenantId, customerId } = ofCustomer(principal)
    const device = await declared.of(devices).find(tenantId, deviceId)
    if (device === undefined) throw OnboardingErrors.DEVICE_UNKNOWN()
    const standing = await this.standing(deviceId)
    if (standing === undefined) return { response: device.customerId === null ? 'FAILURE' : 'CLAIMED' }
    if (clock.now() > standing.expiresAt || !isSame(hashOf(secretKey), standing.secretHash)) {
      if (standing.claimId !== undefined) await entities.write([entities.deviceClaims.spend(standing.claimId)])
      return { response: 'FAILURE', isWrongSecret: true }
    }
    if (device.customerId !== null) return { response: 'CLAIMED' }
    const customer = await declared.of(customers).find(tenantId, customerId)
    const deleted = [ALLOWED, DATA]
    const claimed = await this.change(principal, device, {
      customerId,
      type: 'ENTITY_ASSIGNED',
      metadata: { assignedCustomerId: customerId, assignedCustomerName: customer?.title ?? '' },
      joined: {
        statements: [
          // Of all who read the offer at once, with whatever secret, only the first to commit was heard.
          standing.claimId === undefined
            ? entities.deviceClaims.withdraw(deviceId)
            : entities.deviceClaims.take(standing.claimId),
          entities.attributes.delete(deviceId, 'SERVER_SCOPE', deleted),
        ],
        committed: (written) => this.parts.attributes.writtenWith(written, deviceEntity(device), { deleted }),
      },
    })
    return { response: 'SUCCESS', device: claimed }
  }

  private async reclaim(principal: Principal, deviceId: string): Promise<void> {
    const { entities, declared, clock, settings } = this.parts
    const device = await declared.of(devices).find(principal.tenantId ?? '', deviceId)
    if (device === undefined) throw OnboardingErrors.DEVICE_UNKNOWN()
    const { customerId } = device
    if (customerId === null) return
    if (principal.authority === 'CUSTOMER_USER' && ofCustomer(principal).customerId !== customerId)
      throw ServiceErrors.PERMISSION_DENIED()
    const customer = await declared.of(customers).find(device.tenantId, customerId)
    const allowed: Attribute = { key: ALLOWED, type: 'BOOLEAN', value: true, lastUpdateTs: clock.now() }
    const saved = settings.isAllowedByDefault ? [] : [allowed]
    const writes = saved.map((attribute) => ({
      entityId: deviceId,
      scope: 'SERVER_SCOPE' as const,
      attribute,
      sequence: 0,
    }))
    await this.change(principal, device, {
      customerId: null,
      type: 'ENTITY_UNASSIGNED',
      metadata: { unassignedCustomerId: customerId, unassignedCustomerName: customer?.title ?? '' },
      joined: {
        statements: [
          entities.deviceClaims.withdraw(deviceId),
          ...(saved.length === 0 ? [] : [entities.attributes.save(writes)]),
        ],
        committed: (written) => this.parts.attributes.writtenWith(written, deviceEntity(device), { saved }),
      },
    })
  }

  private change(
    principal: Principal,
    device: Device,
    change: {
      readonly customerId: string | null
      readonly type: 'ENTITY_ASSIGNED' | 'ENTITY_UNASSIGNED'
      readonly metadata: Readonly<Record<string, string>>
      readonly joined: Joined
    },
  ): Promise<Device> {
    const { customerId, joined, ...rest } = change
    const service = this.parts.declared.of(devices)
    return service.changeByUser(principal, device, { customerId }, { ...rest, joined: [joined] })
  }

  private async deviceNamed(principal: Principal, name: string): Promise<Device> {
    const device = await this.parts.declared.of(devices).findByName(principal.tenantId ?? '', name)
    if (device === undefined) throw OnboardingErrors.DEVICE_UNKNOWN()
    return device
  }

  private async mayBeClaimed(deviceId: string): Promise<boolean> {
    if (this.parts.settings.isAllowedByDefault) return true
    return (await this.attribute(deviceId, ALLOWED))?.value === true
  }

  /** What the device offered, else what the tenant wrote into the attribute. */
  private async standing(deviceId: string): Promise<Standing | undefined> {
    const claim = await this.parts.entities.deviceClaims.find(deviceId)
    if (claim !== undefined) return { ...claim, claimId: claim.id }
    return standingOf(await this.attribute(deviceId, DATA))
  }

  private async attribute(deviceId: string, key: string): Promise<Attribute | undefined> {
    const { value } = await this.parts.attributes.find(entityId('DEVICE', deviceId), 'SERVER_SCOPE', [key])
    return value[0]
  }
}

const REASONS = { CLAIMED: 'The device is claimed already', FAILURE: 'There is no such offer of the device' } as const

function isWrongSecret(result: ClaimResult): boolean {
  return result.response !== 'SUCCESS' && result.isWrongSecret === true
}

function deviceEntity({ id }: Device) {
  return entityId('DEVICE', id)
}

/** `{"secretKey":"…","expirationTime":…}`. */
function standingOf(attribute: Attribute | undefined): Standing | undefined {
  if (attribute === undefined || (attribute.type !== 'JSON' && attribute.type !== 'STRING')) return undefined
  try {
    const data = parseJson(attribute.value)
    if (!isJsonObject(data)) return undefined
    const { secretKey, expirationTime } = data
    const expiresAt = typeof expirationTime === 'number' ? expirationTime : 0
    return { secretHash: hashOf(typeof secretKey === 'string' ? secretKey : ''), expiresAt, claimId: undefined }
  } catch {
    // The tenant's own text is no JSON: it offers nothing.
    return undefined
  }
}

/** Who came by a public link is nobody's user. */
function ofCustomer(principal: Principal): { readonly tenantId: string; readonly customerId: string } {
  const { tenantId, customerId, userId } = principal
  if (tenantId === null || customerId === null || userId === NULL_UUID) throw ServiceErrors.PERMISSION_DENIED()
  return { tenantId, customerId }
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

/** Both are hashes: of one length. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

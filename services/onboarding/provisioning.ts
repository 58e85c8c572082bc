/**
 * Provisioning: a device that knows the key and the secret of a profile gets a record of its own, or the credentials of the one that was
 * made for it. The record, its credentials, its state and the messages are there together or not at all. Source: `device-api.md` 9.1, 9.2.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../model/clock.ts'
import type { DeviceCredentials } from '../../model/entities.ts'
import { entityId, NULL_UUID } from '../../model/entity-id.ts'
import { isMillraceError } from '../../model/errors.ts'
import { isJsonObject, stringifyJson } from '../../model/json.ts'
import type { Principal } from '../../model/principal.ts'
import type { Attribute } from '../../model/value.ts'
import type { ProvisionAnswer, ProvisionRequest } from '../../engine/device/gateway.ts'
import type { ChangeFeed } from '../../engine/subscriptions/change.ts'
import type { AttributeWrite } from '../../storage/entities/attributes.ts'
import type { EntityStore } from '../../storage/entities/entity-store.ts'
import type { Changes, EntityEvent } from '../changes/changes.ts'
import { newAccessToken, newCredentials, type PresentedCredentials } from '../devices/device-credentials.ts'
import { deviceProfiles, type DeviceProfile } from '../entities/device-profile.ts'
import { devices, type Device } from '../entities/device.ts'
import type { EntityRegistry } from '../entities/entity-registry.ts'
import { randomText } from '../users/secrets.ts'
import type { DeviceAttributes } from './device-attributes.ts'
import { OnboardingErrors } from './errors.ts'
import { DEFAULT_ATTEMPT_LIMITS, WrongAttempts, type AttemptFigures, type AttemptLimits } from './wrong-attempts.ts'

export interface ProvisioningParts {
  readonly entities: EntityStore
  readonly declared: EntityRegistry
  readonly attributes: Pick<DeviceAttributes, 'writtenWith'>
  readonly changes: Changes
  readonly feed: Pick<ChangeFeed, 'publish'>
  readonly clock: Clock
  readonly limits?: AttemptLimits
}

const STATE = 'provisionState'
const PROVISIONED = 'provisioned'
const NAME_LENGTH = 20
const FAILURE: ProvisionAnswer = { status: 'FAILURE' }
const NOT_FOUND: ProvisionAnswer = { status: 'NOT_FOUND' }

export class Provisioning {
  private readonly parts: ProvisioningParts
  private readonly attempts: WrongAttempts

  constructor(parts: ProvisioningParts) {
    this.parts = parts
    this.attempts = new WrongAttempts(parts.clock, parts.limits ?? DEFAULT_ATTEMPT_LIMITS)
  }

  figures(): AttemptFigures {
    return this.attempts.figures()
  }

  /** Throws `TOO_MANY_WRONG`, `BUSY`, and what the store throws that does not answer. */
  provision(request: ProvisionRequest, clientAddress: string): Promise<ProvisionAnswer> {
    const answer = () => this.answer(request, clientAddress)
    return this.attempts.run(clientAddress, answer, ({ status }) => status === 'NOT_FOUND')
  }

  /** Bounded with all that strangers try. Throws `TOO_MANY_WRONG`, `BUSY`. */
  attempt<Answer>(
    clientAddress: string,
    attempt: () => Promise<Answer>,
    isWrong: (answer: Answer) => boolean,
  ): Promise<Answer> {
    return this.attempts.run(clientAddress, attempt, isWrong)
  }

  private async answer(request: ProvisionRequest, clientAddress: string): Promise<ProvisionAnswer> {
    const { key, secret, deviceName } = request
    if (key === '' || secret === '') return NOT_FOUND
    const profile = await this.parts.declared.of(deviceProfiles).findAnywhereBy({ provisionDeviceKey: key })
    if (profile === undefined || !isSecretOf(profile, secret)) return NOT_FOUND
    const name = deviceName ?? ''
    const principal = asDevice(profile.tenantId, name, clientAddress)
    try {
      switch (profile.provisionType) {
        case 'ALLOW_CREATE_NEW_DEVICES':
          return await this.create(principal, profile, { ...request, deviceName: name || randomText(NAME_LENGTH) })
        case 'CHECK_PRE_PROVISIONED_DEVICES':
          return await this.release(principal, profile, name, request)
        case 'DISABLED':
          return NOT_FOUND
        case 'X509_CERTIFICATE_CHAIN':
          // Only a certificate, shown when the connection is made, names its profile.
          return FAILURE
      }
    } catch (error) {
      // What the request itself is refused for, such as a token that is taken, is told to nobody who has no credentials.
      if (isMillraceError(error) && (error.kind === 'invalid' || error.kind === 'denied')) return FAILURE
      throw error
    }
  }

  /** A device of the profile under a name that none has. */
  async create(
    principal: Principal,
    profile: DeviceProfile,
    request: ProvisionRequest & { readonly deviceName: string },
  ): Promise<ProvisionAnswer> {
    const { entities, declared, feed } = this.parts
    const service = declared.of(devices)
    const existing = await service.findByName(profile.tenantId, request.deviceName)
    if (existing !== undefined) return this.failed(principal, existing, request)
    let credentials: DeviceCredentials | undefined
    const { id } = await service.saveByUser(
      principal,
      {
        name: request.deviceName,
        deviceProfileId: profile.id,
        additionalInfo: request.isGateway ? { gateway: true } : null,
      },
      {
        following: (device) => {
          credentials = credentialsFor(device, declared.newId(), request)
          const state = entities.attributes.save([this.stateOf(device.id)])
          return [...entities.deviceCredentials.insert(credentials), state]
        },
        joined: async (device) => {
          const event = { ...(await this.about(principal, device)), ...told('PROVISION_SUCCESS', device, request) }
          return [{ statements: [], event }]
        },
      },
    )
    // It may have tried its own credentials before, and then they are remembered as nobody's. Sessions that are quicker than the news stay.
    feed.publish({ kind: 'device-changed', entity: entityId('DEVICE', id), credentialsChanged: false })
    return credentials === undefined ? FAILURE : successOf(credentials)
  }

  /** A device that was made for it gives its credentials away once. */
  private async release(
    principal: Principal,
    profile: DeviceProfile,
    name: string,
    request: ProvisionRequest,
  ): Promise<ProvisionAnswer> {
    const { entities, declared, changes, attributes } = this.parts
    const service = declared.of(devices)
    const device = name === '' ? undefined : await service.findByName(profile.tenantId, name)
    if (device?.deviceProfileId !== profile.id) return FAILURE
    const credentials = await entities.deviceCredentials.findByDevice(device.id)
    if (credentials === undefined) return FAILURE
    const state = this.stateOf(device.id)
    const once = entities.attributes.insert(state, () => OnboardingErrors.PROVISIONED_ALREADY())
    try {
      const written = await changes.commit([once], {
        ...(await this.about(principal, device)),
        ...told('PROVISION_SUCCESS', device, request),
      })
      attributes.writtenWith(written, entityId('DEVICE', device.id), { saved: [state.attribute] })
    } catch (error) {
      if (!isMillraceError(error) || error.code !== 'onboarding.PROVISIONED_ALREADY') throw error
      return this.failed(principal, device, request)
    }
    return successOf(credentials)
  }

  /** Of a device that is there already: its tenant hears of it. */
  private async failed(principal: Principal, device: Device, request: ProvisionRequest): Promise<ProvisionAnswer> {
    const event = { ...(await this.about(principal, device)), ...told('PROVISION_FAILURE', device, request) }
    await this.parts.changes.commit([], event)
    return FAILURE
  }

  private async about(principal: Principal, device: Device) {
    return {
      ...(await this.parts.declared.of(devices).routeOf(device)),
      principal,
      originator: entityId('DEVICE', device.id),
    }
  }

  private stateOf(deviceId: string): AttributeWrite {
    const attribute: Attribute = {
      key: STATE,
      type: 'STRING',
      value: PROVISIONED,
      lastUpdateTs: this.parts.clock.now(),
    }
    return { entityId: deviceId, scope: 'SERVER_SCOPE', attribute, sequence: 0 }
  }
}

/** The audit log names the device in the place of a user. */
export function asDevice(tenantId: string, name: string, clientAddress: string): Principal {
  return {
    userId: NULL_UUID,
    email: name,
    authority: 'TENANT_ADMIN',
    tenantId,
    customerId: null,
    firstName: null,
    lastName: null,
    isDevice: true,
    clientAddress,
  }
}

/** The request without its secrets: chains and the audit log are read by more people than profiles are. */
function told(
  type: 'PROVISION_SUCCESS' | 'PROVISION_FAILURE',
  device: Device,
  { key, credentialsType, isGateway }: ProvisionRequest,
): Pick<EntityEvent, 'type' | 'metadata' | 'data' | 'audit'> {
  const request = {
    deviceName: device.name,
    credentialsType,
    credentials: { provisionDeviceKey: key },
    gateway: isGateway,
  }
  const actionData = stringifyJson({ provisionRequest: request })
  return {
    type,
    metadata: {},
    data: stringifyJson(request),
    audit: { actionType: type, entityName: device.name, actionData },
  }
}

function isSecretOf({ profileData }: DeviceProfile, secret: string): boolean {
  const configuration = profileData?.['provisionConfiguration']
  const own = isJsonObject(configuration) ? configuration['provisionDeviceSecret'] : undefined
  return typeof own === 'string' && own !== '' && timingSafeEqual(hashOf(own), hashOf(secret))
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** An access token where nothing was sent to make others of. */
function credentialsFor(device: Device, id: string, request: ProvisionRequest): DeviceCredentials {
  const { token, clientId, userName, password, certificate } = request
  const isEmpty = [token, clientId, userName, password, certificate].every((text) => (text ?? '') === '')
  return isEmpty ? newAccessToken(device, id, undefined) : newCredentials(device, id, presented(request))
}

function presented(request: ProvisionRequest): PresentedCredentials {
  const { credentialsType, token, clientId = null, userName = null, password = null, certificate } = request
  switch (credentialsType) {
    case 'ACCESS_TOKEN':
      return { credentialsType, credentialsId: token ?? '', credentialsValue: null }
    case 'X509_CERTIFICATE':
      return { credentialsType, credentialsId: '', credentialsValue: certificate ?? '' }
    case 'MQTT_BASIC':
      return {
        credentialsType,
        credentialsId: '',
        credentialsValue: stringifyJson({ clientId, userName, password }),
      }
    case 'LWM2M_CREDENTIALS':
      throw OnboardingErrors.CREDENTIALS_NOT_PROVISIONED({ type: credentialsType })
  }
}

function successOf({ credentialsType, credentialsId, credentialsValue }: DeviceCredentials): ProvisionAnswer {
  const value = credentialsType === 'ACCESS_TOKEN' ? credentialsId : (credentialsValue ?? '')
  return { status: 'SUCCESS', credentialsType, credentialsValue: value }
}
